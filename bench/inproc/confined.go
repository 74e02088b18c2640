package main

import (
	"context"
	"fmt"
	"os"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// confinedTiers are the tiers that are measured, with the layers that are left off for them.
var confinedTiers = []struct {
	name    string
	without []string
}{{"A", nil}, {"B", []string{confine.Namespaces}}}

// measureConfined measures the scripts of measureScripts in a sandbox, with the same cache. It leaves out a tier that this
// machine does not have.
func measureConfined(ctx context.Context, o script.Options, s *skill.Skill, rounds int) error {
	for _, tier := range confinedTiers {
		sandbox, err := confine.New(&confine.Options{Without: tier.without})
		if err != nil {
			return err
		}
		if have := sandbox.Report(ctx); have.Tier != tier.name {
			fmt.Fprintf(os.Stderr, "sandbox: tier %s is not measured: %q\n", tier.name, have.Missing)
			continue
		}
		o.Runner, o.Confine = sandbox, runner.ConfineRequired
		host, err := script.New(&o)
		if err != nil {
			return err
		}
		for _, name := range []string{"shell", "python"} {
			if _, err := measureRunAs(ctx, host, s, name, "run-"+name+"-"+tier.name, rounds); err != nil {
				return err
			}
		}
	}
	return nil
}
