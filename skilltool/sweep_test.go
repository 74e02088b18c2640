package skilltool

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// A copy is in use from before it is made until its script has ended: no sweep removes it.
func TestSweepKeepsWhatRuns(t *testing.T) {
	var runs *script.Host
	var sweeps []error
	sweep := func() {
		_, err := runs.Sweep(t.Context(), &script.SweepOptions{Wait: time.Millisecond, Needed: func(string) bool { return false }})
		sweeps = append(sweeps, err)
	}
	k, _ := kit(t, kitOptions{change: func(o *Options) {
		runs = localHost(t, func(o *script.Options) {
			o.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
				if c.Phase == runner.Prepare { // python3 may be asked which one it is
					return runner.Exec{}.Run(ctx, c)
				}
				sweep()
				return &runner.Output{Stdout: []byte("{}")}, nil
			})
		})
		o.Scripts = runs
		o.Policy.Approve = func(context.Context, *skill.Skill) (bool, error) { sweep(); return true, nil }
	}})
	for _, name := range []string{"script_run", "script_help"} {
		sweeps = nil
		if r := call(t, k, name, `{"skill_name":"kalshi-markets","script_name":"status"}`); !r.Success {
			t.Errorf("%s: %s", name, r.Encode())
		}
		if len(sweeps) != 2 || !errors.Is(sweeps[0], script.ErrInUse) || !errors.Is(sweeps[1], script.ErrInUse) {
			t.Errorf("%s: sweeps while it is approved and runs: %v, want ErrInUse twice", name, sweeps)
		}
	}
	sweep()
	if sweeps[len(sweeps)-1] != nil {
		t.Errorf("afterwards: %v", sweeps)
	}
}
