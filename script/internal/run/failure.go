package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
)

// known returns what is known about a run that has ended. with has the packages that the user added.
func (a *attempt) known(ctx context.Context, cmd *runner.Command, out *runner.Output, with []string) *explain.Run {
	o, c := a.o, a.c
	r := &explain.Run{Skill: c.Skill, Script: c.Script, Args: a.r.Args, Cmd: cmd, Out: out, AddedJSON: c.AddedJSON, Serves: c.Serves != nil, Hook: c.Hook != nil,
		Here: o.Here(cmd.Dir), Workspace: o.Workspace, Rules: []runner.Denied{o.Denied, c.Denied}, Env: o.Env, Home: o.Guard.Home,
		Seen:    a.seen,
		Imports: func() []string { return envs.Imports(c.Skill, c.Script) },
		Lacking: func(python bool) []string {
			return a.e.o.Envs.Lacks(ctx, &envs.Of{Skill: c.Skill, Script: c.Script, With: with}, python)
		}}
	if t := a.place.Lasting; t != nil {
		r.Temp, r.OtherTemp = t.Dir, t.Other
	}
	return r
}

// failed returns the error of a script that ended with an exit code.
func (a *attempt) failed(cmd *runner.Command, out *runner.Output, f *explain.Finding) error {
	return &fail.Error{
		Code: fail.ExecutionFailed, Reason: f.Reason, Err: f.Cause, Stdout: output.Said(out), Wants: f.Wants(), Ended: out.Signal != "", Warning: a.done.Note, Sandbox: out.Sandbox,
		Message: fmt.Sprintf("Script failed with exit code %d%s", out.ExitCode, signalHint(out, cmd)) + f.Text() + output.Tail(out),
	}
}

// startError returns the error of a command that was not started.
func startError(sc survey.Script, cmd *runner.Command, err error) error {
	var none *runner.SandboxError
	if errors.As(err, &none) {
		return &fail.Error{Code: fail.PermissionDenied, Reason: fail.ReasonSandbox, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", sc.Name, none)}
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		if info, statErr := os.Stat(cmd.Dir); statErr != nil || !info.IsDir() {
			return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonFolder, Err: err,
				Message: fmt.Sprintf("Script %s cannot start in %q: it is not a folder, or not any more; make it, or have the script start elsewhere", sc.Name, cmd.Dir)}
		}
	}
	if dir := removed(cmd, err); dir != "" {
		return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonFolder, Err: err, Message: fmt.Sprintf("Script %s cannot start: %q was removed while it was being started; try again", sc.Name, dir)}
	}
	e := &fail.Error{Code: fail.ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s cannot be started with %s: %v", sc.Name, cmd.Path, err)}
	switch _, missing := os.Stat(cmd.Path); {
	case errors.Is(err, fs.ErrNotExist) && missing == nil:
		e.Reason = fail.ReasonPlatform
		e.Message += ": the program is there, but what loads it is not (it was built for another system)"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		e.Reason = fail.ReasonInterpreter
	case strings.Contains(err.Error(), "exec format error"):
		e.Reason = fail.ReasonPlatform
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
func (a *attempt) undone(cmd *runner.Command, out *runner.Output) error {
	f := explain.Undone(cmd, out)
	return &fail.Error{Code: fail.ExecutionFailed, Reason: f.Reason, Err: f.Cause, Wants: f.Wants(), Stdout: output.Said(out), Warning: a.done.Note, Sandbox: out.Sandbox,
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

// judge returns the error of a command that did not end by itself: one that was not started, was cancelled or timed out.
func (a *attempt) judge(ctx context.Context, cmd *runner.Command, out *runner.Output, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return startError(a.c.Script, cmd, err)
	case out.TimedOut:
		return &fail.Error{Code: fail.Timeout, Stdout: output.Said(out), Sandbox: out.Sandbox, Message: "Script timed out after " + fail.Seconds(cmd.Timeout) + passed(out, cmd) + output.StderrTail(out)}
	}
	return nil
}

// clean replaces the secrets in what a command printed.
func clean(o *runner.Output, r *redact.Redactor) {
	o.Stdout, o.Stderr = r.Bytes(o.Stdout), r.Bytes(o.Stderr)
	o.Stdout = r.Cut(o.Stdout, false, o.Truncated || o.Stopped)
	o.Stderr = r.Cut(o.Stderr, len(o.Stderr) >= proc.StderrKept, false)
}
