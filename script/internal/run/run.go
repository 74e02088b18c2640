package run

import (
	"context"
	"log/slog"
	"path/filepath"

	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/trace"
)

// Run runs a script or a hook. It returns an error if that cannot be started or times out, and for a script that ends with an exit code:
// that of ctx or a *fail.Error. It leaves output over its limit to the caller. Done is never nil.
func (e *Engine) Run(ctx context.Context, c *Call) (*Done, error) {
	a, err := e.begin(ctx, c)
	if err != nil {
		return &Done{}, err
	}
	err = a.run(ctx)
	return &a.done, err
}

func (a *attempt) run(ctx context.Context) error {
	e, c, r := a.e, a.c, a.r
	a.done.note(r.Grant.Note)
	var err error
	if r.Given, err = c.given(r.Passes); err != nil {
		return err
	}
	if err := a.choose(ctx); err != nil {
		return err
	}
	if err := a.settle(ctx); err != nil {
		return err
	}
	defer a.place.Remove()
	var asks func(*runner.Output)
	if e.o.Hosts != nil && c.Hook == nil {
		asks = e.o.Hosts(ctx, c.Skill, c.Script, c.Args, &r.Network)
	}
	cmd, out, err := a.execute(ctx)
	if cmd == nil {
		return err
	}
	a.done.note(hidden(a.place.Lasting.Tell(cmd, out)))
	if out != nil && asks != nil {
		asks(out)
	}
	if err == nil {
		a.ended(ctx, cmd, out)
	}
	if err == nil && len(out.Undone) > 0 {
		return a.undone(cmd, out)
	}
	if err := a.judge(ctx, cmd, out, err); err != nil {
		return err
	}
	known := a.known(ctx, cmd, out, a.of.With)
	if out.ExitCode != 0 && !out.Stopped && c.Hook == nil {
		f := explain.Explain(ctx, known)
		a.again(ctx, f)
		a.done.note(a.nothingGiven(out))
		return a.failed(cmd, out, f)
	}
	a.done.Out, a.done.Missed = out, explain.Missed(known)
	a.done.note(a.nothingGiven(out))
	return nil
}

// choose sets what runs the script or hook.
func (a *attempt) choose(ctx context.Context) error {
	if a.c.Hook == nil || a.c.Hook.Command == "" {
		return a.e.o.Interpreters.Script(ctx, a.of, &a.r.Start, a.c.Timeout)
	}
	a.r.File = filepath.Join(a.r.Dir, "SKILL.md") // where the command stands
	return a.e.o.Interpreters.Shell(a.of, &a.r.Start, a.c.Hook.Command)
}

// ended notes what a command did that ended.
func (a *attempt) ended(ctx context.Context, cmd *runner.Command, out *runner.Output) {
	for _, host := range out.Late {
		a.done.note(host + " is allowed now: run it again")
	}
	clean(out, a.secrets())
	a.traceNetwork(ctx, out)
	out.Sandbox = out.Sandbox.OrNone()
	a.done.Facts = []slog.Attr{slog.String(trace.AttrProgram, filepath.Base(cmd.Path)), slog.Int(trace.AttrExitCode, out.ExitCode),
		slog.Int64(trace.AttrStdout, out.Total), slog.Int(trace.AttrStderr, len(out.Stderr)), slog.String(trace.AttrSandbox, out.Sandbox.Tier)}
}
