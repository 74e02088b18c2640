package tool

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Code is a failure's machine-readable cause (R102). A finer one goes into Result.Reason.
type Code string

// The codes there are.
const (
	NotFound         Code = "not_found"         // no such tool, skill, script or file
	InvalidName      Code = "invalid_name"      // a name or path that can be none, or is missing
	ArgsTooLarge     Code = "args_too_large"    // too many arguments, or too long ones
	Timeout          Code = "timeout"           // its time was over, or the turn was ended
	ParseError       Code = "parse_error"       // a script that was to print JSON printed something else
	ExecutionFailed  Code = "execution_failed"  // everything else, with ReasonArguments a call that does not fit its schema
	PermissionDenied Code = "permission_denied" // not trusted, not approved, kept from models; the trace has it as ToolDenied
)

// ReasonArguments is the reason of a failure because a call does not fit the tool's schema.
const ReasonArguments = "invalid_arguments"

// Result is what a call gives back (C49): `{success, result, message, duration_ms}`, or
// `{success:false, error, reason, message, result, duration_ms}`, where result keeps what a failed
// script still said.
type Result struct {
	Success  bool
	Result   any // anything encoding/json can write; json.RawMessage is kept as it is
	Message  string
	Error    Code
	Reason   string         // "untrusted", "interpreter_missing" …
	Metadata map[string]any // what a tool adds besides; the envelope has it as `metadata`
	Duration time.Duration  // of the call; the envelope has it as `duration_ms`, in milliseconds

	// ErrorText has the envelope of a failure say Message in `error`, in the place of the code (C49, the omniforge
	// profile). Error keeps the code: for those who branch on it nothing changes.
	ErrorText bool
	// Fork, when set, asks whoever runs the conversation to have a sub-agent answer the call: its answer then takes
	// this result's place. The envelope does not show it; an executor alone passes it on and does nothing.
	Fork *Fork
}

// Fork is what a tool wants a sub-agent to do (context: fork, R129).
type Fork struct {
	Skill  string // the skill that asks; may be empty
	Args   string // what the skill was called with; Prompt has it already
	Prompt string // what the sub-agent is told, whole: it sees nothing of the conversation
	Model  string // the model it should be asked with, as the skill names it; "" means the conversation's
	Agent  string // the kind of agent, as the skill names it; "" means the usual one
}

// Success returns a result that went well.
func Success(result any, message string) Result {
	return Result{Success: true, Result: result, Message: message}
}

// Failure returns a result that did not.
func Failure(code Code, message string) Result {
	return Result{Error: code, Message: message}
}

// MarshalJSON writes the envelope with a stable order of keys and without HTML escapes.
func (r Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"success":`)
	fields := []field{}
	if r.Success {
		b.WriteString("true")
		fields = append(fields, field{"result", r.Result}, field{"message", r.Message})
	} else {
		b.WriteString("false")
		fields = append(fields, field{"error", r.shownError()})
		if r.Reason != "" {
			fields = append(fields, field{"reason", r.Reason})
		}
		fields = append(fields, field{"message", r.Message})
		if r.Result != nil {
			fields = append(fields, field{"result", r.Result})
		}
	}
	if len(r.Metadata) > 0 {
		fields = append(fields, field{"metadata", r.Metadata})
	}
	fields = append(fields, field{"duration_ms", float64(r.Duration.Microseconds()) / 1000})
	for _, f := range fields {
		if err := f.write(&b); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// shownError is what the envelope has in `error`.
func (r Result) shownError() string {
	if r.ErrorText {
		return r.Message
	}
	return string(r.Error)
}

type field struct {
	key   string
	value any
}

func (f field) write(b *bytes.Buffer) error {
	var v bytes.Buffer
	enc := json.NewEncoder(&v)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f.value); err != nil {
		return err
	}
	b.WriteString(`,"` + f.key + `":`)
	b.Write(bytes.TrimRight(v.Bytes(), "\n"))
	return nil
}

// Encode returns the envelope as JSON text for a model. A result that JSON cannot hold becomes a
// failure that says so.
func (r Result) Encode() []byte {
	b, err := r.MarshalJSON()
	if err != nil {
		b, _ = Failure(ExecutionFailed, "result is not JSON: "+err.Error()).MarshalJSON()
	}
	return slices.Clip(b)
}
