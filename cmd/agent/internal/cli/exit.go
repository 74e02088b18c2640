package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// Exit is the command's exit code.
type Exit int

// The exit codes (REQUIREMENTS 1.3).
const (
	ExitOK          Exit = 0
	ExitFailure     Exit = 1
	ExitUsage       Exit = 2
	ExitNotFound    Exit = 3
	ExitInvalid     Exit = 4 // a skill that cannot be used, or does not pass validation
	ExitDenied      Exit = 5 // denied or untrusted
	ExitConflict    Exit = 6 // locked, or something is in the way
	ExitIntegrity   Exit = 7
	ExitUpdate      Exit = 8 // an update is available
	ExitTimeout     Exit = 124
	ExitInterrupted Exit = 130
)

// failure is an error with what the edge of the program makes of it.
type failure struct {
	exit Exit
	code string // for --json
	hint string // what to do next
	err  error
	said bool // the reader has been told already: only the exit code is left
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage returns a failure of the command line itself.
func usage(err error, hint string) error {
	return &failure{exit: ExitUsage, code: "usage", hint: hint, err: err}
}

// denied returns a failure that a person can lift, with the way to do it.
func denied(err error, cure string) error {
	return &failure{exit: ExitDenied, code: string(tool.PermissionDenied), hint: cure, err: err}
}

// conflict returns a failure because something is in the way.
func conflict(err error, cure string) error {
	return &failure{exit: ExitConflict, code: "conflict", hint: cure, err: err}
}

// notFound returns a failure because something that was named is not there.
func notFound(err error, cure string) error {
	return &failure{exit: ExitNotFound, code: string(tool.NotFound), hint: cure, err: err}
}

// said ends the command with an exit code and nothing more to print.
func said(exit Exit) error {
	return &failure{exit: exit, said: true, err: errors.New("the command has said why")}
}

// explain maps any error to its exit code, code and hint: the one place that does.
func explain(err error) *failure {
	var f *failure
	var missing *skill.NotFoundError
	var bad *manifest.NameError
	var broken *skill.BrokenError
	var file *skill.ResourceError
	var ofScript *script.Error
	switch {
	case errors.As(err, &f):
		return &failure{exit: f.exit, code: f.code, hint: f.hint, err: err, said: f.said}
	case errors.As(err, &missing):
		return &failure{exit: ExitNotFound, code: string(tool.NotFound), hint: "agent skill list --all shows every skill", err: err}
	case errors.As(err, &bad):
		return &failure{exit: ExitUsage, code: string(tool.InvalidName), hint: "a name has 1 to 64 of the characters a-z, A-Z, 0-9, - and _", err: err}
	case errors.As(err, &broken):
		return &failure{exit: ExitInvalid, code: "invalid_skill", hint: "agent skill why " + broken.Name + " explains it", err: err}
	case errors.As(err, &file):
		return explainFile(file)
	case errors.As(err, &ofScript):
		code := tool.Code(ofScript.Code)
		return &failure{exit: scriptExit(tool.Failure(code, "")), code: string(code), err: err}
	case errors.Is(err, lockfile.ErrLocked):
		return &failure{exit: ExitConflict, code: "locked", hint: "another agent is writing: try again", err: err}
	case errors.Is(err, context.Canceled):
		return &failure{exit: ExitInterrupted, code: "interrupted", err: errors.New("interrupted")}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{exit: ExitTimeout, code: string(tool.Timeout), err: err}
	case errors.Is(err, syscall.EPIPE):
		return &failure{exit: ExitFailure, said: true, err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &failure{exit: ExitNotFound, code: string(tool.NotFound), err: err}
	}
	return &failure{exit: ExitFailure, code: "failed", err: err}
}

// explainFile tells a file of a skill that is not there from a path that is refused.
func explainFile(err *skill.ResourceError) *failure {
	if !errors.Is(err, fs.ErrNotExist) {
		return &failure{exit: ExitUsage, code: string(tool.InvalidName), hint: "a path is relative to the skill and stays in it", err: err}
	}
	f := &failure{exit: ExitNotFound, code: string(tool.NotFound), err: err}
	if len(err.Suggest) > 0 {
		f.hint = fmt.Sprintf("did you mean %q?", err.Suggest[0])
	}
	return f
}

// scriptExit returns the exit code for a script tool's result (REQUIREMENTS 1.3).
func scriptExit(r tool.Result) Exit {
	switch {
	case r.Success:
		return ExitOK
	case r.Error == tool.NotFound:
		return ExitNotFound
	case r.Error == tool.PermissionDenied:
		return ExitDenied
	case r.Error == tool.Timeout:
		return ExitTimeout
	case r.Error == tool.ArgsTooLarge, r.Error == tool.InvalidName, r.Reason == tool.ReasonArguments:
		return ExitUsage
	}
	return ExitFailure
}
