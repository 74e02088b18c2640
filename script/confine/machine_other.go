//go:build !linux && !darwin && !windows

package confine

import (
	"context"

	"github.com/agent-base/agent-base/script/runner"
)

type machine struct{}

// Run executes c without a sandbox. With c.Confine ConfineRequired it returns a *runner.SandboxError instead.
func (r *Runner) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	if c.Confine == runner.ConfineRequired {
		return nil, &runner.SandboxError{Layer: Namespaces, Cure: "Use Linux."}
	}
	out, err := runner.Exec{}.Run(ctx, c)
	if out != nil {
		out.Sandbox = &runner.Sandbox{Tier: "E", Layers: []string{}, Missing: []string{Namespaces, Landlock, seccomp}}
	}
	return out, err
}

// Report says what confines a command on this machine.
func (r *Runner) Report(context.Context) runner.Sandbox {
	return runner.Sandbox{Tier: "E", Layers: []string{}, Missing: []string{Namespaces, Landlock, seccomp}}
}
