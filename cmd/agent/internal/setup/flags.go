package setup

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/script/runner"
)

// Flags are the flags of every command. They are parsed before a command runs, and not changed after that.
type Flags struct {
	output.Flags
	Profile string
	Strict  bool
	NoColor bool
	Plain   bool
	Sandbox string        // off, auto or required; "" when it was not given
	Timeout time.Duration // of the commands that run a script; 0 when it was not given

	Tenant string // for whom, as the table serve.tenants says; "" for the setting tenant

	NoContext      bool   // without AGENTS.md and CLAUDE.md
	Effort         string // of the agent itself, as those that follow
	Mode           string
	Allow, Deny    []string // rules
	AllowBash      bool
	WithoutSandbox bool // the mode all also holds without a sandbox
}

// Check refuses values that make no sense.
func (g *Flags) Check(sys *System) error {
	if g.Strict && g.Profile != "" && g.Profile != "spec" {
		return failure.Usage(fmt.Errorf("--strict and --profile %s at once", g.Profile), "--strict is --profile spec")
	}
	if g.Profile != "" {
		if err := checkProfile(g.Profile); err != nil {
			return err
		}
	}
	if g.Sandbox != "" && !slices.Contains(sandboxModes, g.Sandbox) {
		return failure.Usage(fmt.Errorf("invalid --sandbox %q", g.Sandbox), "use "+strings.Join(sandboxModes, ", "))
	}
	if g.Mode != "" && !slices.Contains(permit.Modes(), permit.Mode(g.Mode)) {
		return failure.Usage(fmt.Errorf("invalid --mode %q", g.Mode), "use ask, accept-edits, plan, read-only, all")
	}
	if g.Effort != "" && !slices.Contains(models.Efforts(), g.Effort) {
		return failure.Usage(fmt.Errorf("invalid --effort %q", g.Effort), "use "+strings.Join(models.Efforts(), ", "))
	}
	if g.Project != "" {
		if err := checkFolder(sys, "--project", g.Project); err != nil {
			return err
		}
	}
	for _, dir := range g.SkillsDir {
		if err := checkFolder(sys, "--skills-dir", dir); err != nil {
			return err
		}
	}
	return checkLogFormat(g.LogFormat)
}

// checkFolder refuses the value of a flag that names no folder.
func checkFolder(sys *System, flag, dir string) error {
	if info, err := os.Stat(sys.Abs(dir)); err != nil || !info.IsDir() {
		return failure.Usage(fmt.Errorf("%s %q is not a folder", flag, dir), "")
	}
	return nil
}

func checkProfile(name string) error {
	var names []string
	for _, p := range config.Profiles() {
		if p.Name == name {
			return nil
		}
		names = append(names, p.Name)
	}
	err := fmt.Errorf("unknown profile %q", name)
	if meant := near.Name(name, names); meant != "" {
		return failure.Usage(err, fmt.Sprintf("did you mean %q?", meant))
	}
	return failure.Usage(err, fmt.Sprintf("one of %s", strings.Join(names, ", ")))
}

func checkLogFormat(format string) error {
	switch format {
	case "text", "json":
		return nil
	}
	return failure.Usage(fmt.Errorf("unknown log format %q", format), "use text or json")
}

// sandboxModes are the values of the setting sandbox.
var sandboxModes = []string{string(runner.ConfineOff), string(runner.ConfineAuto), string(runner.ConfineRequired)}
