package script

import (
	"encoding/json"
)

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

// The finer reasons of an Error. Each message names the cure.
const (
	ReasonInterpreter  = "interpreter_missing"      // what runs the script is not there
	ReasonDependencies = "dependencies_unavailable" // they cannot be prepared now
	ReasonMetadata     = "metadata_invalid"         // the script block of PEP 723 is broken or asks for too much
	ReasonPython       = "python_version"           // no Python of the required version
	ReasonShebang      = "shebang_invalid"          // the #! line cannot be followed
	ReasonMode         = "not_executable"           // the x-bit is missing
	ReasonPlatform     = "wrong_platform"           // a program for another system or processor
	ReasonArgument     = "invalid_arguments"        // an argument holds NUL
	ReasonAmbiguous    = "ambiguous"                // several scripts have that name
	ReasonFolder       = "folder_missing"           // a folder that the script lies or starts in is not there
)

// Error is a failure with its text for a model, and what the script still said.
type Error struct {
	Code    Code
	Reason  string // one of the Reason constants, or ""
	Message string // the texts of R104; ends with the tail of stderr where there is one
	Stdout  []byte // what the script printed before it failed: one JSON document, or at most 4 KiB of text
	Err     error  // the cause, if there is one
}

// Error returns the text.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Said returns what the script printed before it failed: JSON as a json.RawMessage, other text as a
// string, nil when there was nothing.
func (e *Error) Said() any {
	if len(e.Stdout) == 0 {
		return nil
	}
	if json.Valid(e.Stdout) {
		return json.RawMessage(e.Stdout)
	}
	return text(e.Stdout)
}
