//go:build !linux && !darwin && !windows

package confine

import (
	"context"

	"github.com/agent-base/agent-base/script"
)

type machine struct{}

// Run executes c without a sandbox. With c.Confine ConfineRequired it returns a *script.SandboxError instead.
func (r *Runner) Run(ctx context.Context, c *script.Command) (*script.Output, error) {
	if c.Confine == script.ConfineRequired {
		return nil, &script.SandboxError{Layer: Namespaces, Cure: "Use Linux."}
	}
	out, err := script.Exec{}.Run(ctx, c)
	if out != nil {
		out.Sandbox = &script.Sandbox{Tier: "E", Layers: []string{}, Missing: []string{Namespaces, Landlock, Seccomp}}
	}
	return out, err
}

// Report says what confines a command on this machine.
func (r *Runner) Report(context.Context) script.Sandbox {
	return script.Sandbox{Tier: "E", Layers: []string{}, Missing: []string{Namespaces, Landlock, Seccomp}}
}
