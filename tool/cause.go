package tool

import (
	"cmp"
	"context"
	"errors"
)

// Cause is why something failed. It is the one set of causes of the engine; each has a name in three styles, because
// the tools of models, the loaders of other engines and their exceptions name the same causes differently. See
// docs/errors.md for the table.
type Cause int

// The causes.
const (
	CauseUnknown    Cause = iota // any failure without a cause of its own
	CauseNotFound                // no such tool, skill, script or file
	CauseName                    // a name or a path that breaks the rules, or a missing one
	CauseArguments               // arguments that do not fit the schema of a tool
	CauseSize                    // too many arguments, or too long ones
	CauseManifest                // a SKILL.md that cannot be read as a manifest
	CauseIO                      // the file system or the source of a skill failed
	CauseActivation              // the skill is there, but cannot be activated or deactivated now
	CauseToolDenied              // an active skill does not allow the tool
	CauseScriptRead              // the text of a script is not read, the script is run
	CauseUntrusted               // the content is not approved
	CauseSecurity                // any other protection refused
	CauseDependency              // something that a script needs is missing
	CauseOutput                  // a script printed no JSON
	CauseTimeout                 // out of time
	CauseStopped                 // the user stopped it
	CauseCancelled               // the model or the caller of the agent cancelled it: ErrCancelled
	causes                       // how many there are
)

// ErrCancelled is the cause of a context that the model or the caller of the agent cancelled, and not the user. See
// context.WithCancelCause.
var ErrCancelled = errors.New("cancelled by the caller")

// Interrupted returns why ctx is done: CauseTimeout if its deadline has passed, CauseCancelled if its cause is ErrCancelled, and
// CauseStopped for any other cancellation. It returns CauseUnknown if ctx is not done.
func Interrupted(ctx context.Context) Cause {
	switch {
	case ctx.Err() == nil:
		return CauseUnknown
	case errors.Is(context.Cause(ctx), ErrCancelled):
		return CauseCancelled
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return CauseTimeout
	}
	return CauseStopped
}

// Interruption returns the result of a call that ended before its time because ctx is done. what is the subject of its message, such
// as "The command".
func Interruption(ctx context.Context, what string) Result {
	c := Interrupted(ctx)
	switch c {
	case CauseTimeout:
		return c.Failure(what + " was stopped because the time for this prompt was over")
	case CauseCancelled:
		return c.Failure(what + " was cancelled")
	}
	return CauseStopped.Failure(what + " was stopped by the user")
}

// CauseOf returns the cause with that code and reason, or else the one with that code alone. A code without a cause has
// CauseUnknown.
func CauseOf(code Code, reason string) Cause {
	for _, reason := range []string{reason, ""} {
		for c := range causes {
			if n := c.names(); n.code == code && n.reason == reason {
				return c
			}
		}
	}
	return CauseUnknown
}

// naming holds the names of one cause.
type naming struct {
	code          Code
	reason        string
	loader, skill string
}

// names returns the row of a cause in the table.
func (c Cause) names() naming {
	switch c {
	case CauseNotFound:
		return naming{NotFound, "", "NOT_FOUND", "SKILL_NOT_FOUND"}
	case CauseName:
		return naming{InvalidName, "", "VALIDATION_ERROR", "SKILL_ERROR"}
	case CauseArguments:
		return naming{ExecutionFailed, ReasonArguments, "VALIDATION_ERROR", "SKILL_ERROR"}
	case CauseSize:
		return naming{ArgsTooLarge, "", "VALIDATION_ERROR", "SKILL_ERROR"}
	case CauseManifest:
		return naming{ExecutionFailed, "invalid_manifest", "PARSE_ERROR", "SKILL_PARSE_ERROR"}
	case CauseIO:
		return naming{ExecutionFailed, "", "IO_ERROR", "SKILL_ERROR"}
	case CauseActivation:
		return naming{ExecutionFailed, "", "VALIDATION_ERROR", "SKILL_ACTIVATION_ERROR"}
	case CauseToolDenied:
		return naming{PermissionDenied, "tool_not_allowed", "SECURITY_ERROR", "SKILL_TOOL_NOT_ALLOWED"}
	case CauseScriptRead:
		return naming{PermissionDenied, "script_read", "SECURITY_ERROR", "SKILL_SCRIPT_READ"}
	case CauseUntrusted:
		return naming{PermissionDenied, "untrusted", "SECURITY_ERROR", "SKILL_ERROR"}
	case CauseSecurity:
		return naming{PermissionDenied, "", "SECURITY_ERROR", "SKILL_ERROR"}
	case CauseDependency:
		return naming{ExecutionFailed, "dependencies_unavailable", "IO_ERROR", "SKILL_ERROR"}
	case CauseOutput:
		return naming{ParseError, "", "PARSE_ERROR", "SKILL_ERROR"}
	case CauseTimeout:
		return naming{Timeout, "", "IO_ERROR", "SKILL_ERROR"}
	case CauseStopped:
		return naming{ExecutionFailed, "stopped", "IO_ERROR", "SKILL_ERROR"}
	case CauseCancelled:
		return naming{ExecutionFailed, "cancelled", "IO_ERROR", "SKILL_ERROR"}
	}
	return naming{ExecutionFailed, "", "IO_ERROR", "SKILL_ERROR"}
}

// Code returns the code of the cause in a tool's result.
func (c Cause) Code() Code { return c.names().code }

// Reason returns the finer cause in a tool's result; it may be empty.
func (c Cause) Reason() string { return c.names().reason }

// String returns the reason, or the code of a cause without one: "stopped", "timeout", "not_found".
func (c Cause) String() string { return cmp.Or(c.Reason(), string(c.Code())) }

// LoaderCode returns one of PARSE_ERROR, VALIDATION_ERROR, NOT_FOUND, IO_ERROR and SECURITY_ERROR.
func (c Cause) LoaderCode() string { return c.names().loader }

// SkillCode returns the cause as an upper-case code that begins with SKILL_.
func (c Cause) SkillCode() string { return c.names().skill }

// Failure returns the result of a call that failed for this cause.
func (c Cause) Failure(message string) Result {
	n := c.names()
	return Result{Error: n.code, Reason: n.reason, Message: message}
}
