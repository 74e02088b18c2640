// Package fail has the error of a script that was not run, could not be prepared, or failed.
package fail

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Code is the cause of a failure.
type Code string

// The codes; package script says what they mean.
const (
	NotFound         Code = "not_found"
	InvalidName      Code = "invalid_name"
	ArgsTooLarge     Code = "args_too_large"
	Timeout          Code = "timeout"
	ParseError       Code = "parse_error"
	ExecutionFailed  Code = "execution_failed"
	PermissionDenied Code = "permission_denied"
)

// The finer reasons; package script says what the others mean.
const (
	ReasonInterpreter  = pyenv.ReasonInterpreter
	ReasonDependencies = pyenv.ReasonDependencies
	ReasonMetadata     = pyenv.ReasonMetadata // what declares its dependencies is broken or asks for too much
	ReasonPython       = pyenv.ReasonPython
	ReasonModule       = "module_missing"
	ReasonShebang      = "shebang_invalid" // the #! line cannot be followed
	ReasonPlatform     = "wrong_platform"
	ReasonArgument     = "invalid_arguments" // an argument holds NUL, or is an option of the program that runs the script
	ReasonJSON         = "json_unknown"
	ReasonAmbiguous    = "ambiguous"      // several scripts have that name
	ReasonFolder       = "folder_missing" // the folder of the script or its working directory is missing
	ReasonCache        = "cache_locked"
	ReasonBlocked      = "not_permitted"
	ReasonNetwork      = "network_not_permitted"
	ReasonChanged      = "content_changed"
	ReasonSandbox      = "sandbox_unavailable"
)

// Error is a failure with its text for a model and the output of the script.
type Error struct {
	Code    Code
	Reason  string // one of the Reason constants, or ""
	Message string // begins with the text of its Code; ends with the tail of stderr, if there is one
	Stdout  []byte // what the script printed before it failed: one JSON document, or at most 4 KiB of text
	Err     error  // the cause, if there is one

	// Wants has what a script that failed lacked, and would give it: variables that it reads, hosts, files, packages, the folder around
	// the skill. A want from want.Refused was recorded by what kept the script from it. One from want.Seen is only in what the script
	// says or its text, which anybody may have written; a package from there is a guess by its name. Message says what is lacking.
	Wants want.Set

	Suggest string // of NotFound, the name of the script that was probably meant, or ""
	Ended   bool   // a signal ended the script
	Warning string // the Note of the grant, of a script that failed

	Sandbox *runner.Sandbox // what confined a script that failed; nil if it did not start
}

// Error returns the text.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Lacks returns Wants.
func (e *Error) Lacks() want.Set { return e.Wants }

// Brief returns the text without what the script printed.
func (e *Error) Brief() string {
	text := e.Message
	for _, before := range []string{"\nstderr: ", "\nstdout: ", ", got: "} {
		text, _, _ = strings.Cut(text, before)
	}
	return text
}

// Said returns what the script printed before it failed: JSON as a json.RawMessage, other text as a string, nil if it
// printed nothing.
func (e *Error) Said() any {
	if len(e.Stdout) == 0 {
		return nil
	}
	if json.Valid(e.Stdout) {
		return json.RawMessage(e.Stdout)
	}
	return output.Text(e.Stdout)
}

// OfScript returns an error of the form "Script NAME …".
func OfScript(name, reason string, err error, format string, args ...any) *Error {
	return &Error{Code: ExecutionFailed, Reason: reason, Err: err, Message: "Script " + name + " " + fmt.Sprintf(format, args...)}
}

// OfProgram returns an error about a program: what it says of a script it says of that. It leaves other errors alone.
func OfProgram(name string, err error) error {
	e, ok := err.(*Error) //nolint:errorlint // one that wraps it has a text of its own
	if !ok {
		return err
	}
	out := *e
	out.Message = strings.NewReplacer("Script "+name+" ", name+" ", "script "+name+" ", name+" ", "Script changed ", name+" changed ").Replace(e.Message)
	return &out
}

// ToCopy returns the error for a skill that cannot be copied to where its scripts run: that of ctx if it is done.
func ToCopy(ctx context.Context, skill string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Code: ExecutionFailed, Err: err, Message: fmt.Sprintf("Skill '%s' cannot be copied to where its scripts run: %v", skill, err)}
}

// Seconds writes a duration as "60s", "1.5s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }
