// Package failure says how a command fails: [Explain] maps every error to an exit code, a code for machines and a hint. No other
// place does.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/replay"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
)

// Exit is the command's exit code.
type Exit int

// The exit codes.
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
	ExitIncomplete  Exit = 9 // a scan could not read all of a skill
	ExitTimeout     Exit = 124
	ExitInterrupted Exit = 130
)

// Error is an error with its exit code, its code for --json and a hint.
type Error struct {
	Exit   Exit
	Code   string // for --json
	Hint   string // what to do next
	Err    error
	Silent bool // everything was said: only the exit code is left
}

// Error returns the text of the error.
func (f *Error) Error() string { return f.Err.Error() }

// Unwrap returns the error itself.
func (f *Error) Unwrap() error { return f.Err }

// Usage returns a failure of the command line itself.
func Usage(err error, hint string) error {
	return &Error{Exit: ExitUsage, Code: "usage", Hint: hint, Err: err}
}

// Denied returns a failure that a person can lift with cure.
func Denied(err error, cure string) error {
	return &Error{Exit: ExitDenied, Code: string(tool.PermissionDenied), Hint: cure, Err: err}
}

// Conflict returns a failure because something already exists or is locked.
func Conflict(err error, cure string) error {
	return &Error{Exit: ExitConflict, Code: "conflict", Hint: cure, Err: err}
}

// NotFound returns a failure because something that was named does not exist.
func NotFound(err error, cure string) error {
	return &Error{Exit: ExitNotFound, Code: string(tool.NotFound), Hint: cure, Err: err}
}

// Silent returns a failure that ends the command with an exit code and prints nothing more.
func Silent(exit Exit) error {
	return &Error{Exit: exit, Silent: true, Err: errors.New("the command has said why")}
}

// Explain maps any error to its exit code, code and Hint: the one place that does.
func Explain(err error) *Error {
	var f *Error
	var missing *skill.NotFoundError
	var bad *manifest.NameError
	var broken *skill.BrokenError
	var file *skill.ResourceError
	var ofScript *script.Error
	var server *mcphost.ServerError
	var model *models.NameError
	var provider *llm.Error
	if f := explainPolicy(err); f != nil {
		return f
	}
	if f := explainInstall(err); f != nil && !errors.As(err, new(*Error)) {
		return f
	}
	switch {
	case errors.As(err, &f):
		return &Error{Exit: f.Exit, Code: f.Code, Hint: f.Hint, Err: err, Silent: f.Silent}
	case errors.As(err, &missing):
		return &Error{Exit: ExitNotFound, Code: string(tool.NotFound), Hint: "agent skill list --all shows every skill", Err: err}
	case errors.As(err, &bad):
		f := &Error{Exit: ExitUsage, Code: string(tool.InvalidName), Hint: "a name has 1 to 64 of the characters a-z, A-Z, 0-9, - and _, and begins with a letter or a digit", Err: err}
		switch {
		case len(bad.Suggest) > 0:
			f.Hint = fmt.Sprintf("did you mean %q?", bad.Suggest[0])
		case strings.ContainsAny(bad.Name, `/\`):
			f.Hint = "write the name of the " + bad.Kind + " and not its path; agent skill list shows skills, with --skills-dir FOLDER those of a folder, too"
		}
		return f
	case errors.As(err, &broken):
		return &Error{Exit: ExitInvalid, Code: "invalid_skill", Hint: "agent skill why " + broken.Name + " explains it", Err: err}
	case errors.As(err, &file):
		return explainFile(file)
	case errors.As(err, &ofScript):
		code := tool.Code(ofScript.Code)
		return &Error{Exit: ScriptExit(tool.Failure(code, "")), Code: string(code), Err: err}
	case errors.As(err, &server):
		return explainServer(err, server)
	case errors.Is(err, models.ErrNone):
		return &Error{Exit: ExitNotFound, Code: "no_model", Hint: models.Ways(), Err: err}
	case errors.As(err, &model):
		return &Error{Exit: ExitUsage, Code: "no_model", Hint: model.Cure, Err: err}
	case ReplayStopped(err):
		return &Error{Exit: ExitFailure, Code: "replay_stopped", Err: err}
	case errors.As(err, &provider):
		return &Error{Exit: modelExit(provider.Kind), Code: string(provider.Kind), Hint: modelHint(provider), Err: err}
	case errors.Is(err, lockfile.ErrLocked):
		return &Error{Exit: ExitConflict, Code: "locked", Hint: "another agent is writing; try again", Err: err}
	case config.CureUnsafe(err) != "":
		return &Error{Exit: ExitDenied, Code: string(tool.PermissionDenied), Hint: config.CureUnsafe(err), Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Exit: ExitInterrupted, Code: "interrupted", Err: errors.New("interrupted")}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Exit: ExitTimeout, Code: string(tool.Timeout), Err: err}
	case errors.Is(err, syscall.EPIPE):
		return &Error{Exit: ExitFailure, Silent: true, Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Exit: ExitNotFound, Code: string(tool.NotFound), Err: err}
	}
	return &Error{Exit: ExitFailure, Code: "failed", Err: err}
}

// ReplayStopped reports whether err is that of a replay which differs from the conversation. Its answer says so too.
func ReplayStopped(err error) bool { return errors.As(err, new(*replay.StoppedError)) }

// explainServer explains the failure of a server of tools.
func explainServer(err error, e *mcphost.ServerError) *Error {
	switch e.Kind {
	case mcphost.KindUnknown:
		return &Error{Exit: ExitNotFound, Code: string(tool.NotFound), Err: err}
	case mcphost.KindLogin:
		return &Error{Exit: ExitDenied, Code: string(tool.PermissionDenied), Err: err}
	case mcphost.KindTimeout:
		return &Error{Exit: ExitTimeout, Code: string(tool.Timeout), Err: err}
	}
	return &Error{Exit: ExitFailure, Code: "server", Err: err}
}

// explainFile explains a file of a skill that does not exist, or a path that is refused.
func explainFile(err *skill.ResourceError) *Error {
	if !errors.Is(err, fs.ErrNotExist) {
		f := &Error{Exit: ExitUsage, Code: string(tool.InvalidName), Err: err}
		if errors.Is(err, fs.ErrInvalid) {
			f.Hint = "a path is relative to the skill and stays in it"
		}
		if errors.Is(err, skill.ErrLinked) {
			f.Hint = "agent skill add REPOSITORY --skill NAME copies what such links lead to"
		}
		return f
	}
	f := &Error{Exit: ExitNotFound, Code: string(tool.NotFound), Err: err}
	if len(err.Suggest) > 0 {
		f.Hint = fmt.Sprintf("did you mean %q?", err.Suggest[0])
	}
	return f
}

// ScriptExit returns the exit code for a script tool's result.
func ScriptExit(r tool.Result) Exit {
	switch {
	case r.Success:
		return ExitOK
	case r.Error == tool.NotFound:
		return ExitNotFound
	case r.Error == tool.PermissionDenied:
		return ExitDenied
	case r.Error == tool.Timeout:
		return ExitTimeout
	case r.Reason == tool.CauseStopped.Reason():
		return ExitInterrupted
	case r.Error == tool.ArgsTooLarge, r.Error == tool.InvalidName, r.Reason == tool.ReasonArguments:
		return ExitUsage
	}
	return ExitFailure
}
