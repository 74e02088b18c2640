package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// judge returns the error of a command that did not end by itself: one that was not started, was cancelled or timed out.
func (c *call) judge(ctx context.Context, cmd *runner.Command, out *runner.Output, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return startError(c.sc, cmd, err)
	case out.TimedOut:
		return &Error{Code: Timeout, Stdout: output.Said(out), Sandbox: out.Sandbox, Message: "Script timed out after " + fail.Seconds(cmd.Timeout) + passed(out, cmd) + output.StderrTail(out)}
	}
	return nil
}

// Seen is what the texts of a skill's scripts show of what they want: the variables that each script reads and the hosts that it contacts,
// by its slash path below the skill. The application finds it out, as package skill/scan does.
type Seen = explain.Seen

// Lacks returns what a command that is not a script of a skill lacked in the sandbox when it failed, by what it wrote and was refused,
// and says so in clauses. Both are empty if that is not known. It runs nothing.
func Lacks(cmd *runner.Command, out *runner.Output) (want.Set, []string) {
	return explain.Lacks(cmd, out)
}

// Packages returns the packages of modules that scripts import: those of Python by the names of the modules, and npm packages with the
// prefix NPM. A package that is only a guess by the name of its module is from want.Seen: anybody may have published it.
func Packages(modules ...string) want.Set { return explain.Packages(modules...) }

// known returns what is known about a run that has ended. with has the packages that the user added.
func (h *Host) known(ctx context.Context, c *call, with []string, cmd *runner.Command, out *runner.Output) *explain.Run {
	r := &explain.Run{Skill: c.s, Script: c.sc, Args: c.args, Cmd: cmd, Out: out, AddedJSON: c.addedJSON, Serves: c.serve != nil, Hook: c.hook != nil,
		Here: h.here(cmd.Dir), Workspace: h.o.Workspace, Rules: []runner.Denied{h.o.Denied, c.denied}, Env: h.o.Env, Home: plan.UserHome(h.o.Env),
		Place: h.o.Place, Seen: c.look,
		Imports: func() []string { return envs.Imports(c.s, c.sc) },
		Lacking: func(python bool) []string {
			return h.envs.Lacks(ctx, &envs.Of{Skill: c.s, Script: c.sc, With: with}, python)
		}}
	if c.temp != nil {
		r.Temp, r.OtherTemp = c.temp.Dir, c.temp.Other
	}
	return r
}

// looked makes c.look return what is seen of the skill. It is looked at once, and only for a run that lacked something.
func (h *Host) looked(ctx context.Context, c *call) {
	c.look = sync.OnceValue(func() Seen {
		if h.o.Seen == nil {
			return Seen{}
		}
		return h.o.Seen(ctx, c.s)
	})
}

// failed returns the error of a script that ended with an exit code.
func (c *call) failed(cmd *runner.Command, out *runner.Output, f *explain.Finding) error {
	return &Error{
		Code: ExecutionFailed, Reason: f.Reason, Err: f.Cause, Stdout: output.Said(out), Wants: f.Wants(), Ended: out.Signal != "", Warning: c.note, Sandbox: out.Sandbox,
		Message: fmt.Sprintf("Script failed with exit code %d%s", out.ExitCode, signalHint(out, cmd)) + f.Text() + output.Tail(out),
	}
}

// startError returns the error of a command that was not started.
func startError(sc Script, cmd *runner.Command, err error) error {
	var none *runner.SandboxError
	if errors.As(err, &none) {
		return &Error{Code: PermissionDenied, Reason: ReasonSandbox, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", sc.Name, none)}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil || !info.IsDir() {
			return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err,
				Message: fmt.Sprintf("Script %s cannot start in %q: it is not a folder, or not any more; make it, or have the script start elsewhere", sc.Name, cmd.Dir)}
		}
	}
	if dir := removed(cmd, err); dir != "" {
		return &Error{Code: ExecutionFailed, Reason: ReasonFolder, Err: err, Message: fmt.Sprintf("Script %s cannot start: %q was removed while it was being started; try again", sc.Name, dir)}
	}
	e := &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be started with %s: %v", sc.Name, cmd.Path, err)}
	switch _, missing := os.Stat(cmd.Path); {
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		e.Reason = ReasonPlatform
		e.Message += ": the program is there, but what loads it is not (it was built for another system)"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Reason = ReasonInterpreter
	case strings.Contains(err.Error(), "exec format error"):
		e.Reason = ReasonPlatform
		e.Message += ": it was built for another system or processor"
	}
	return e
}

// removed returns the folder of a command that is not there any more and that an error names, "" if there is none.
func removed(cmd *runner.Command, err error) string {
	for _, dir := range slices.Concat(cmd.Read, cmd.Write) {
		if _, gone := os.Lstat(dir); errors.Is(gone, fs.ErrNotExist) && strings.Contains(err.Error(), dir) {
			return dir
		}
	}
	return ""
}

// undone returns the error of a script that changed what no script may change. Whatever else it did does not matter.
func (c *call) undone(cmd *runner.Command, out *runner.Output) error {
	f := explain.Undone(cmd, out)
	return &Error{Code: ExecutionFailed, Reason: f.Reason, Err: f.Cause, Wants: f.Wants(), Stdout: output.Said(out), Warning: c.note, Sandbox: out.Sandbox,
		Message: runner.Sentence("Script", out.Undone) + output.Tail(out)}
}

// signalHint names the limit that a script passed, or the signal that ended it.
func signalHint(out *runner.Output, cmd *runner.Command) string {
	if hint := passed(out, cmd); hint != "" || out.Signal == "" {
		return hint
	}
	return fmt.Sprintf(" (signal: %s)", out.Signal)
}

// passed names the limit that a script passed.
func passed(out *runner.Output, cmd *runner.Command) string {
	if limit := out.Passed(&cmd.Limits); limit != "" {
		return " (" + limit + ")"
	}
	return ""
}

// clean replaces the secrets in what a command printed.
func clean(o *runner.Output, r *redact.Redactor) {
	o.Stdout, o.Stderr = r.Bytes(o.Stdout), r.Bytes(o.Stderr)
	o.Stdout = r.Cut(o.Stdout, false, o.Truncated || o.Stopped)
	o.Stderr = r.Cut(o.Stderr, len(o.Stderr) >= proc.StderrKept, false)
}
