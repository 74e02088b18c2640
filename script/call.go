package script

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// call is one execution of a script.
type call struct {
	s         *skill.Skill
	sc        Script
	args      []string
	env       []string // of the caller, as NAME=value
	timeout   time.Duration
	waited    time.Duration // of it, for the cache
	stopAtMax bool
	hook      *manifest.Hook // nil for a script; its exit code is no error
	stdin     []byte         // of a hook
	input     *feed          // of a script; nil for an empty one
	addedJSON bool           // --json is an argument that the caller did not give
	denied    runner.Denied
	packages  string        // the folder of its npm packages; "" for none
	uncached  bool          // byte code lies in the skill's folder, which is none of the skill
	python    string        // the interpreter that a shell script is to start, with its packages; "" for any
	serve     *ServeOptions // nil for a script
	out, err  io.Writer     // also get what it writes; nil for nobody

	network runner.Network       // what decides about hosts while it runs
	asks    func(*runner.Output) // told the end of that; may be nil

	look   func() Seen      // what the texts of the skill's scripts want
	temp   *places.Temp     // where it keeps temporary files, if that stays after the run; else nil
	missed *explain.Finding // what a script that did not fail, or a hook, was kept from; nil for nothing
	note   string           // of the grant, and of where it starts
	facts  []slog.Attr      // about the command that ended, for the trace
}

// call runs the script. It returns an *Error if the script cannot be started, times out or ends with an exit code. It
// leaves output over its limit to the caller.
func (h *Host) call(ctx context.Context, c *call) (*runner.Output, error) {
	dir, file, err := c.place(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.leftovers(ctx); err != nil {
		return nil, err
	}
	grant, err := h.granted(ctx, c.s)
	if err != nil {
		return nil, err
	}
	c.note = grant.Note
	passes := plan.PassingOf(&grant)
	given, err := c.given(passes)
	if err != nil {
		return nil, err
	}
	src := &source{Of: c.of(plan.Packages(&grant)), file: file, uncached: c.uncached}
	var argv []string
	if c.hook != nil && c.hook.Command != "" {
		src.file = filepath.Join(dir, "SKILL.md") // where the command stands
		argv, err = h.shell(c)
	} else {
		argv, dir, err = h.ready(ctx, c, src, dir)
	}
	if err != nil {
		return nil, err
	}
	w, err := h.places.Workplace(ctx, c.s, &grant)
	if err != nil {
		return nil, &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s has no work directory: %v", c.sc.Name, err)}
	}
	defer w.Remove()
	c.temp = w.Lasting
	run := &scriptRun{argv: argv, by: src.by, dir: dir, file: src.file, grant: &grant, passes: passes, given: given, place: w}
	if h.o.Hosts != nil && c.hook == nil && c.serve == nil {
		c.asks = h.o.Hosts(ctx, c.s, c.sc, c.args, &c.network)
	}
	cmd, out, err := h.execute(ctx, c, run)
	if cmd == nil {
		return nil, err
	}
	c.note = joined(c.note, hidden(c.temp.Tell(cmd, out)))
	if out != nil && c.asks != nil {
		c.asks(out)
	}
	if err == nil {
		for _, host := range out.Late {
			c.note = joined(c.note, host+" is allowed now: run it again")
		}
		clean(out, plan.Secrets(run.passes, h.o.Env, run.given))
		h.traceNetwork(ctx, c, out)
		out.Sandbox = out.Sandbox.OrNone()
		c.facts = []slog.Attr{slog.String(trace.AttrProgram, filepath.Base(cmd.Path)), slog.Int(trace.AttrExitCode, out.ExitCode),
			slog.Int64(trace.AttrStdout, out.Total), slog.Int(trace.AttrStderr, len(out.Stderr)), slog.String(trace.AttrSandbox, out.Sandbox.Tier)}
	}
	if err == nil && len(out.Undone) > 0 {
		return nil, c.undone(cmd, out)
	}
	if err := c.judge(ctx, cmd, out, err); err != nil {
		return nil, err
	}
	if out.ExitCode != 0 && !out.Stopped && c.hook == nil {
		f := explain.Explain(ctx, h.known(ctx, c, src.With, cmd, out))
		run.again(ctx, c, f)
		c.note = joined(c.note, c.nothingGiven(out))
		return nil, c.failed(cmd, out, f)
	}
	c.missed = explain.Missed(h.known(ctx, c, src.With, cmd, out))
	c.note = joined(c.note, c.nothingGiven(out))
	return out, nil
}

// of is what packages are wanted for, besides those that the user added.
func (c *call) of(with []string) *envs.Of {
	of := &envs.Of{Skill: c.s, Script: c.sc, With: with}
	if c.serve != nil && len(c.serve.Files) > 0 {
		of.Also, of.Else = c.serve.Files[1:], c.serve.Else
	}
	return of
}

// place returns the skill's folder and the script's path in it. Both must exist: the system's error for a missing folder
// reads as if the interpreter were missing.
func (c *call) place(ctx context.Context) (dir, file string, err error) {
	nowhere := func(err error) error {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
			Message: fmt.Sprintf("Skill '%s' has no folder to run scripts in: %v", c.s.Name(), err)}
	}
	if err := checkOpen(c.s); err != nil {
		return "", "", err
	}
	if dir, err = c.s.Dir(ctx); err != nil {
		return "", "", nowhere(err)
	}
	if !filepath.IsAbs(dir) {
		return "", "", nowhere(fmt.Errorf("its source says that it lies in %q, which is not an absolute path", dir))
	}
	dir = paths.Real(dir)
	file = filepath.Join(dir, filepath.FromSlash(c.sc.File))
	if _, err := os.Stat(file); err != nil {
		return "", "", &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
			Message: fmt.Sprintf("Script %s is not in the skill's folder any more: load the skill again (%v)", c.sc.Name, err)}
	}
	return dir, file, nil
}

// given are the caller's variables, checked against what passes.
func (c *call) given(passes *plan.Passing) (map[string]string, error) {
	env := map[string]string{}
	for _, kv := range c.env {
		name, value, _ := strings.Cut(kv, "=")
		if !passes.Allows(name) {
			return nil, &Error{Code: PermissionDenied, Message: fmt.Sprintf("Env var '%s' not in allowlist", name)}
		}
		env[name] = value
	}
	return env, nil
}

// leftovers sets what is to be kept from interpreters: a skill that runs in its own folder, not as a sealed copy, may have byte code
// there that nobody approved.
func (c *call) leftovers(ctx context.Context) error {
	list, err := content.Leftovers(ctx, c.s.Whole())
	if err != nil {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err, Message: fmt.Sprintf("Skill '%s' has no folder to run scripts in: %v", c.s.Name(), err)}
	}
	c.uncached = slices.ContainsFunc(list, func(l content.Left) bool { return l.Kind == content.ByteCode })
	return nil
}
