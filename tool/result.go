package tool

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Code is the machine-readable code of a failure. Result.Reason may say more. See Cause for all causes.
type Code string

// The codes.
const (
	NotFound         Code = "not_found"         // no such tool, skill, script or file
	InvalidName      Code = "invalid_name"      // a name or path that is missing or invalid
	ArgsTooLarge     Code = "args_too_large"    // too many arguments, or too long ones
	Timeout          Code = "timeout"           // out of time
	ParseError       Code = "parse_error"       // a script printed something other than JSON
	ExecutionFailed  Code = "execution_failed"  // any other failure; with ReasonArguments, arguments that do not fit the schema
	PermissionDenied Code = "permission_denied" // not trusted, not approved or not for models; traced as ToolDenied
)

// Reasons that programs look for.
const (
	ReasonArguments   = "invalid_arguments" // the arguments do not fit the tool's schema
	ReasonNotApproved = "not_approved"      // the user did not approve the call, or could not be asked
)

// MetadataSandbox is the key of Result.Metadata for what confined a command. A model does not get it.
const MetadataSandbox = "sandbox"

// Result is the result of a call. As JSON it is `{success, result, message, duration_ms}`, or
// `{success:false, error, reason, message, result, duration_ms}`, where result is what a failed script still printed.
// Encode returns what a model gets of it.
type Result struct {
	Success  bool
	Result   any // anything encoding/json can write; json.RawMessage is kept unchanged
	Message  string
	Error    Code
	Reason   string         // "untrusted", "interpreter_missing" …
	Metadata map[string]any // further values of a tool; the envelope has them as `metadata`
	Duration time.Duration  // of the call, without Waited; the envelope has it as `duration_ms`, in milliseconds
	Waited   time.Duration  // for answers of a person while the tool worked; the envelope does not have it

	// ErrorText puts Message into `error` in the envelope of a failure, in place of the code, as the omniforge profile
	// wants it. Error keeps the code.
	ErrorText bool
	// Media has images and PDF documents that the model is shown with the result of a successful call. The envelope does not have them:
	// Result or Message names them.
	Media []Media
	// Fork, if set, asks the caller that runs the conversation to let a sub-agent answer the call; its answer replaces this
	// result. The envelope does not show it, and an executor does nothing with it.
	Fork *Fork
}

// Media is an image or a PDF document. Its bytes must not change.
type Media struct {
	Type string // image/png, image/jpeg, image/gif, image/webp or application/pdf
	Name string // of its file; may be empty
	Data []byte
}

// Fork describes the task that a tool gives to a sub-agent, for a skill with `context: fork`.
type Fork struct {
	Skill  string // the skill; may be empty
	Args   string // arguments of the skill; already in Prompt
	Prompt string // the whole prompt: the sub-agent sees nothing of the conversation
	Model  string // name of the model, from the skill; "" means that of the conversation
	Agent  string // kind of agent, from the skill; "" means the default
}

// Success returns the result of a successful call.
func Success(result any, message string) Result {
	return Result{Success: true, Result: result, Message: message}
}

// Failure returns the result of a failed call.
func Failure(code Code, message string) Result {
	return Result{Error: code, Message: message}
}

// Cause returns why the call failed, CauseUnknown for a success.
func (r *Result) Cause() Cause {
	if r.Success {
		return CauseUnknown
	}
	return CauseOf(r.Error, r.Reason)
}

// MarshalJSON writes the whole envelope with its keys in a fixed order and without HTML escapes.
func (r Result) MarshalJSON() ([]byte, error) {
	return r.write(field{"duration_ms", float64(r.Duration.Microseconds()) / 1000})
}

// write writes the envelope, with more fields at its end.
func (r Result) write(more ...field) ([]byte, error) {
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
	for _, f := range append(fields, more...) {
		if err := f.write(&b); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// shownError returns the value of `error` in the envelope.
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

// Encode returns the envelope as JSON text for a model: without Duration and without what confined the call, which a model
// cannot use. If the result cannot be written as JSON, it returns a failure that says so.
func (r Result) Encode() []byte {
	if _, ok := r.Metadata[MetadataSandbox]; ok {
		r.Metadata = maps.Clone(r.Metadata)
		delete(r.Metadata, MetadataSandbox)
	}
	b, err := r.write()
	if err != nil {
		b, _ = Failure(ExecutionFailed, "result is not JSON: "+err.Error()).write()
	}
	return slices.Clip(b)
}
