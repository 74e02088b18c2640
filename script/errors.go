package script

import (
	"encoding/json"
	"strings"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Code is the cause of a failure. It is one of the codes of package tool.
type Code string

// The codes, with the texts that their messages begin with. If a script wrote to stderr, its end follows, at most StderrTail
// bytes, as "\nstderr: …".
const (
	NotFound         Code = "not_found"         // Script 'x' not found in skill 'y'
	InvalidName      Code = "invalid_name"      // Invalid script name: 'x'
	ArgsTooLarge     Code = "args_too_large"    // Too many arguments: 150 (max 100); Arguments too large: 5000 bytes (max 4096)
	Timeout          Code = "timeout"           // Script timed out after 60s
	ParseError       Code = "parse_error"       // Expected JSON output, got: …, with at most 200 characters of it
	ExecutionFailed  Code = "execution_failed"  // Script failed with exit code 3; also for a script that cannot be started
	PermissionDenied Code = "permission_denied" // Env var 'X' not in allowlist
)

// The finer reasons of an Error, mostly of ExecutionFailed. Each message says what would help.
const (
	ReasonInterpreter  = pyenv.ReasonInterpreter  // the interpreter is missing
	ReasonDependencies = pyenv.ReasonDependencies // they cannot be prepared now or in time, or are too large
	ReasonMetadata     = pyenv.ReasonMetadata     // what declares its dependencies is broken or asks for too much
	ReasonPython       = pyenv.ReasonPython       // no Python of the required version
	ReasonModule       = explain.ReasonModule     // a module is not installed
	ReasonShebang      = "shebang_invalid"        // the #! line cannot be followed
	ReasonPlatform     = "wrong_platform"         // a program for another system or processor
	ReasonArgument     = "invalid_arguments"      // an argument holds NUL, or is an option of the program that runs the script
	ReasonJSON         = explain.ReasonJSON       // the script refuses --json, which the caller did not give
	ReasonAmbiguous    = "ambiguous"              // several scripts have that name
	ReasonFolder       = "folder_missing"         // the folder of the script or its working directory is missing
	ReasonCache        = "cache_locked"           // the cache was being swept for as long as the script may take
	ReasonBlocked      = explain.ReasonBlocked    // it used a file that it may not write or see
	ReasonNetwork      = explain.ReasonNetwork    // it failed because the sandbox kept it from the network
	ReasonChanged      = "content_changed"        // the skill has changed since it was loaded
	ReasonSandbox      = "sandbox_unavailable"    // the sandbox that the command needs cannot be had; then the error wraps a *runner.SandboxError
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
