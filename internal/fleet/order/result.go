package order

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/cause"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// Result is what became of an order. Without a Failure it has the answer of its call: Output, Help or Hook.
type Result struct {
	Version int         `json:"v"`
	Run     string      `json:"run"`
	Attempt uint64      `json:"attempt,omitempty"`
	Worker  string      `json:"worker,omitempty"`
	Start   string      `json:"start,omitempty"`
	Output  *Output     `json:"output,omitempty"`
	Help    *HelpText   `json:"help,omitempty"`
	Hook    *HookOutput `json:"hook,omitempty"`
	Tools   []ToolForm  `json:"tools,omitempty"` // also with a Failure, which is then about other toolsets
	Answer  *Answer     `json:"answer,omitempty"`
	Failure *cause.Form `json:"failure,omitempty"`
	Facts   []Attr      `json:"facts,omitempty"`  // about the command that ended, for the trace
	Events  []Event     `json:"events,omitempty"` // of package trace, in their order
	Parts   uint64      `json:"parts,omitempty"`  // of the output, that went before
}

// Output is the answer of a script, see script.Result.
type Output struct {
	JSON     json.RawMessage `json:"json,omitempty"`
	Text     string          `json:"text,omitempty"`
	Warning  string          `json:"warning,omitempty"`
	Duration time.Duration   `json:"duration"`
	Sandbox  runner.Sandbox  `json:"sandbox"`
	Wants    want.Set        `json:"wants,omitempty"`
}

// HelpText is the help of a script, see script.HelpText.
type HelpText struct {
	Text      string `json:"text,omitempty"`
	Usage     string `json:"usage,omitempty"`
	Described bool   `json:"described,omitempty"`
}

// HookOutput is what a hook did, see script.HookOutput.
type HookOutput struct {
	ExitCode int            `json:"exit_code"`
	Stdout   []byte         `json:"stdout,omitempty"`
	Cut      bool           `json:"cut,omitempty"`
	Stderr   []byte         `json:"stderr,omitempty"`
	Duration time.Duration  `json:"duration"`
	Sandbox  runner.Sandbox `json:"sandbox"`
	Missed   *cause.Form    `json:"missed,omitempty"`
}

// answer returns what a host answers.
func (o *HookOutput) answer() *script.HookOutput {
	out := &script.HookOutput{ExitCode: o.ExitCode, Stdout: o.Stdout, Cut: o.Cut, Stderr: o.Stderr, Duration: o.Duration, Sandbox: o.Sandbox}
	out.Missed, _ = errors.AsType[*script.Error](o.Missed.Err())
	return out
}

// Failed returns the result of an order that has none, for a cause.
func Failed(o *Order, err error) *Result {
	e := &script.Error{Code: script.ExecutionFailed, Err: err, Message: fmt.Sprintf("Skill '%s' has no result: %v", o.Skill.Name, err)}
	return &Result{Version: Version, Run: o.Run, Failure: cause.Of(e)}
}

// Encode returns the JSON form. An answer that is too large becomes a failure that says so: the script has run.
func (r *Result) Encode() ([]byte, error) {
	b, err := encode(r, MaxResult, "result")
	if err == nil || r.Output == nil && r.Help == nil && r.Hook == nil && r.Tools == nil && r.Answer == nil && r.Failure == nil {
		return b, err
	}
	small := *r
	small.Output, small.Help, small.Hook, small.Tools, small.Answer, small.Events = nil, nil, nil, nil, nil, nil
	small.Failure = cause.Of(&script.Error{Code: script.ExecutionFailed, Err: err,
		Message: fmt.Sprintf("The script has run, but its answer does not come back from another machine: %v; have it print less", err)})
	return encode(&small, MaxResult, "result")
}

// DecodeResult reads the JSON form of a result, which anybody may have written. It leaves out what this version does not know.
func DecodeResult(b []byte) (*Result, error) {
	if len(b) > MaxResult {
		return nil, fmt.Errorf("a result of %d bytes, more than %d", len(b), MaxResult)
	}
	r := &Result{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("no result: %w", err)
	}
	if r.Version != Version {
		return nil, fmt.Errorf("a result of version %d: this program reads version %d; give all machines the same version", r.Version, Version)
	}
	return r, nil
}

// of returns an error if a result is not that of an order.
func (r *Result) of(o *Order) error {
	answers := map[Call]bool{Run: r.Output != nil, Help: r.Help != nil, Hook: r.Hook != nil, Tools: true, Tool: r.Answer != nil}
	switch {
	case r.Run != o.Run || r.Attempt != o.Attempt || r.Worker != o.Worker || r.Start != o.Start:
		return fmt.Errorf("the result is that of the run %.40q", r.Run)
	case r.Failure == nil && !answers[o.Call]:
		return fmt.Errorf("the result has no answer of the call %s", o.Call)
	}
	for i := range r.Tools {
		if err := r.Tools[i].check(); err != nil {
			return err
		}
	}
	return r.Answer.check()
}

// facts returns the facts about the command.
func (r *Result) facts() []slog.Attr {
	if r == nil {
		return nil
	}
	return attrs(r.Facts)
}

// has reports whether the worker reports an event of a kind.
func (r *Result) has(k trace.Kind) bool {
	return r != nil && slices.ContainsFunc(r.Events, func(e Event) bool { return e.Kind == k })
}

// Event is an event of package trace. Its Error is a text: what may be asked of a failure is in Result.Failure.
type Event struct {
	Time     time.Time     `json:"time"`
	Kind     trace.Kind    `json:"kind"`
	Level    slog.Level    `json:"level,omitempty"`
	Script   string        `json:"script,omitempty"`
	Message  string        `json:"message,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	Error    *cause.Form   `json:"error,omitempty"`
	Attrs    []Attr        `json:"attrs,omitempty"`
}

// Attr is an attribute of an event: a text, a number, or a yes or no.
type Attr struct {
	Key  string `json:"k"`
	Text string `json:"s,omitempty"`
	Int  *int64 `json:"i,omitempty"`
	Bool *bool  `json:"b,omitempty"`
}

func attrsOf(list []slog.Attr) []Attr {
	var out []Attr
	for _, a := range list {
		one, v := Attr{Key: a.Key}, a.Value.Resolve()
		switch {
		case v.Kind() == slog.KindInt64:
			n := v.Int64()
			one.Int = &n
		case v.Kind() == slog.KindBool:
			b := v.Bool()
			one.Bool = &b
		default:
			one.Text = v.String()
		}
		out = append(out, one)
	}
	return out
}

// facts are the keys of what a worker knows about a run. It is no author of anything else: whoever reads events believes them.
var facts = []string{trace.AttrProgram, trace.AttrExitCode, trace.AttrStdout, trace.AttrStderr, trace.AttrSandbox, trace.AttrHost, "kept", "described"}

// attrs returns the attributes of which those came, as far as they are facts.
func attrs(list []Attr) []slog.Attr {
	var out []slog.Attr
	for _, a := range list {
		if !slices.Contains(facts, a.Key) {
			continue
		}
		switch {
		case a.Int != nil:
			out = append(out, slog.Int64(a.Key, *a.Int))
		case a.Bool != nil:
			out = append(out, slog.Bool(a.Key, *a.Bool))
		default:
			out = append(out, slog.String(a.Key, a.Text))
		}
	}
	return out
}

// maxEvents is how many events a result has.
const maxEvents = 200

// kept lists the events that a worker reports. The Sender has the others itself, and believes no worker about them.
var kept = []trace.Kind{trace.HookRun, trace.ToolsetStarted, trace.ToolsetFailed, trace.ScriptPreparing, trace.ScriptPrepared, trace.NetworkAllowed, trace.NetworkRefused}

// Part is a piece of the output of a run.
type Part struct {
	Run  string `json:"run"`
	Seq  uint64 `json:"seq"`           // counts from 1
	Err  bool   `json:"err,omitempty"` // of standard error
	Data []byte `json:"data"`          // at most MaxPart bytes
}

// MaxPart is how many bytes of output a part has at most.
const MaxPart = 32 << 10
