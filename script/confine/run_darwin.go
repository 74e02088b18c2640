package confine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/runner"
)

type machine struct{ lookout lookout }

// sandboxExec is the program of macOS that applies a profile.
const sandboxExec = "/usr/bin/sandbox-exec"

var errControl = errors.New("a path with control characters cannot be named in a profile")

// Run executes c with a profile of sandbox-exec. With c.Confine ConfineRequired it returns a *runner.SandboxError instead of running
// where there is no sandbox-exec.
func (r *Runner) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	defer c.CloseIn()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Layer != nil {
		return nil, runner.ErrNoLayer
	}
	_, err := os.Stat(sandboxExec)
	if err != nil && c.Confine == runner.ConfineRequired {
		return nil, &runner.SandboxError{Layer: "sandbox-exec", Err: err}
	}
	if err != nil || c.Confine == runner.ConfineOff {
		return r.bare(ctx, c)
	}
	var proxy relay
	defer proxy.close()
	if c = c.Asking(); c.Network.Some() && r.o.Proxy != nil {
		if err := proxy.open(r.o.Proxy, &c.Network, false); err != nil {
			return nil, err
		}
	}
	text := profile(c, []string{c.Dir, filepath.Dir(filepath.Dir(paths.Real(c.Path)))}, proxy.port)
	if strings.ContainsAny(text, "\x00\r\x1b") {
		return nil, errControl
	}
	inside := *c
	inside.Path = sandboxExec
	inside.Args = append([]string{sandboxExec, "-p", text, c.Path}, c.Args[1:]...)
	if inside.Env = proxy.env(c.Env); proxy.run == nil && !c.Network.All {
		inside.Env = withoutProxies(c.Env)
	}
	held := &runner.Sandbox{Tier: "D", Layers: []string{"sandbox-exec"}, Missing: []string{limits, wholeTree}}
	if c.Started != nil {
		c.Started(held)
	}
	r.lookout.begin(c.Seen)
	out, err := runner.Exec{}.Run(ctx, &inside)
	undone := r.lookout.end(c.Seen)
	if out != nil {
		out.Undone = undone
		proxy.end(ctx, out)
		out.Sandbox = held
	}
	return out, err
}

// bare executes c without a sandbox.
func (r *Runner) bare(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	out, err := runner.Exec{}.Run(ctx, c)
	if out != nil {
		out.Sandbox = &runner.Sandbox{Tier: "off", Layers: []string{}, Missing: []string{"sandbox-exec"}}
	}
	return out, err
}

// Report says what confines a command on this machine. It runs one to find out.
func (r *Runner) Report(ctx context.Context) runner.Sandbox {
	out, err := r.Run(ctx, &runner.Command{Path: "/usr/bin/true", Args: []string{"true"}, Dir: "/", Timeout: reportTimeout})
	if err != nil || out.ExitCode != 0 || out.Sandbox.Tier != "D" {
		return runner.Sandbox{Tier: "E", Layers: []string{}, Missing: []string{"sandbox-exec"}}
	}
	return *out.Sandbox
}
