package script

import "github.com/agent-base/agent-base/script/internal/fail"

// The codes of an Error, which are those of package tool, with the texts that their messages begin with. If a script wrote to stderr,
// its end follows, at most StderrTail bytes, as "\nstderr: …".
const (
	NotFound         = fail.NotFound         // Script 'x' not found in skill 'y'
	InvalidName      = fail.InvalidName      // Invalid script name: 'x'
	Timeout          = fail.Timeout          // Script timed out after 60s
	ParseError       = fail.ParseError       // Expected JSON output, got: …, with at most 200 characters of it
	ExecutionFailed  = fail.ExecutionFailed  // Script failed with exit code 3; also for a script that cannot be started
	PermissionDenied = fail.PermissionDenied // Env var 'X' not in allowlist
)

// The finer reasons of an Error that a program acts on, mostly of ExecutionFailed. Each message says what would help.
const (
	ReasonInterpreter  = fail.ReasonInterpreter  // the interpreter is missing
	ReasonDependencies = fail.ReasonDependencies // they cannot be prepared now or in time, or are too large
	ReasonPython       = fail.ReasonPython       // no Python of the required version
	ReasonModule       = fail.ReasonModule       // a module is not installed
	ReasonPlatform     = fail.ReasonPlatform     // a program for another system or processor
	ReasonJSON         = fail.ReasonJSON         // the script refuses --json, which the caller did not give
	ReasonCache        = fail.ReasonCache        // the cache was being swept for as long as the script may take
	ReasonBlocked      = fail.ReasonBlocked      // it used a file that it may not write or see
	ReasonNetwork      = fail.ReasonNetwork      // it failed because the sandbox kept it from the network
	ReasonChanged      = fail.ReasonChanged      // the skill has changed since it was loaded
	ReasonSandbox      = fail.ReasonSandbox      // the sandbox that the command needs cannot be had; then the error wraps a *runner.SandboxError
)

// Error is a failure with its text for a model and the output of the script: its Code and Reason, the Message, what the script printed
// before it failed (Stdout), the cause (Err), and what it lacked (Wants). Its methods say what of it a caller shows: Brief is the
// Message without what the script printed, and Said is that.
type Error = fail.Error
