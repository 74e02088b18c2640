package script

import "encoding/json"

// Code is R102's cause of a failure.
type Code string

// The codes of R102.
const (
	NotFound         Code = "not_found"
	InvalidName      Code = "invalid_name"
	ArgsTooLarge     Code = "args_too_large"
	Timeout          Code = "timeout"
	ParseError       Code = "parse_error"
	ExecutionFailed  Code = "execution_failed"
	PermissionDenied Code = "permission_denied"
)

// Error is a failure with its text for a model, and what the script still said.
type Error struct {
	Code    Code
	Reason  string // finer than the code: "interpreter_missing", "dependencies_unavailable" …
	Message string
	Stdout  []byte // what came before the failure, capped
	Err     error
}

// Error returns the text.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Said returns what the script printed before it failed: JSON as it is, other text as a string,
// nil when there was nothing.
func (e *Error) Said() any {
	if len(e.Stdout) == 0 {
		return nil
	}
	if json.Valid(e.Stdout) {
		return json.RawMessage(e.Stdout)
	}
	return text(e.Stdout)
}
