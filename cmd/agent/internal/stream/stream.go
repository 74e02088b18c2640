// Package stream has the lines of JSON by which another program drives an agent: what the agent writes is a Line, and what it reads is
// an Input, each on a line of its own. Schema describes both; docs/stream.md says what each line means and when it comes.
//
// The texts of a Line come from models, commands and files. JSON escapes their control characters; whoever shows them to a person
// sanitises them.
package stream

import (
	_ "embed"
	"encoding/json"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// Schema is the JSON Schema of both kinds of lines: $defs has "line" for what the agent writes and "input" for what it reads.
//
//go:embed schema.json
var Schema []byte

// Format is the number of the format, which the first line has. Lines and keys may be added to a format, and a reader passes over those
// that it does not know.
const Format = 1

// Line is a line that an agent writes. Which keys it has depends on its Type.
type Line struct {
	Type   string `json:"type"`
	Format int    `json:"format,omitempty"` // of start
	Turn   int    `json:"turn,omitempty"`   // of turn and end: from 1; not of a run with one prompt
	Depth  int    `json:"depth,omitempty"`  // 1: a sub-agent's
	Of     string `json:"of,omitempty"`     // the ID of the call that this sub-agent answers

	Model  string  `json:"model,omitempty"`  // of start
	Prefix *Prefix `json:"prefix,omitempty"` // of start

	ID   string `json:"id,omitempty"`   // joins a call and what happens in it, a question and its answer, a prompt and its turn
	Line int    `json:"line,omitempty"` // of error: the number of the line that was read, from 1
	Code string `json:"code,omitempty"` // of error
	Tool string `json:"tool,omitempty"` // of call, and of a question about one
	Text string `json:"text,omitempty"`
	Hint string `json:"hint,omitempty"` // of error: what to do

	Args json.RawMessage `json:"args,omitempty"` // of call
	Call *Call           `json:"call,omitempty"` // of result

	Left  int64   `json:"left,omitempty"`  // of output: bytes before the text that no line has
	Done  float64 `json:"done,omitempty"`  // of progress
	Total float64 `json:"total,omitempty"` // of progress
	Need  *Need   `json:"need,omitempty"`  // of needs

	Question *Question `json:"question,omitempty"`

	Todo []todo.Item `json:"todo,omitzero"` // of todo: the whole list

	Usage *llm.Usage `json:"usage,omitempty"`
	Run   *Run       `json:"run,omitempty"` // of end

	Conversation *string `json:"conversation,omitempty"` // of start and end: what --resume takes; "" if it was not saved
}

// Prefix is what every request begins with, in estimated tokens.
type Prefix struct {
	System int `json:"system_tokens"`
	Tools  int `json:"tools_tokens"`
}

// Call is a call of a tool that has ended.
type Call struct {
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args"`
	Success  bool            `json:"success"`
	Error    string          `json:"error,omitempty"`
	Cause    string          `json:"cause,omitempty"` // why it failed: "stopped", "timeout", "cancelled", or a finer cause than Error
	Message  string          `json:"message,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"` // of a tool, whole
	Text     string          `json:"text,omitempty"`   // in place of Result: what the model got of a result that was too long for it
	Millis   int64           `json:"duration_ms"`
	SubAgent bool            `json:"sub_agent,omitempty"`
	User     bool            `json:"user,omitempty"` // no model called: the prompt began with /NAME
}

// Need is something that a call is kept from, or asks for.
type Need struct {
	Kind    string `json:"kind"` // host, read, write, env …
	Name    string `json:"name"`
	Refused bool   `json:"refused,omitempty"` // it was refused, or is lacking; else the user is asked
}

// Question is what the user is asked.
type Question struct {
	Call    string   `json:"call,omitempty"`    // the ID of the call that it is about
	Details []string `json:"details,omitempty"` // what the user has to see to answer it
	Diff    bool     `json:"diff,omitempty"`    // Details are the lines of a unified diff
	Free    bool     `json:"free,omitempty"`    // the answer is any text; "" for none
	Choices []Choice `json:"choices,omitempty"` // the answers to one that is not free
}

// Choice is an answer to a question.
type Choice struct {
	Answer string `json:"answer"`
	Means  string `json:"means"`
}

// Run is a whole turn.
type Run struct {
	Answer string     `json:"answer"`
	Stop   agent.Stop `json:"stop"`
	Model  string     `json:"model"`
	Turns  int        `json:"turns"` // requests
	Usage  llm.Usage  `json:"usage"`
	Skills []string   `json:"skills"` // active at the end
	Calls  []Call     `json:"calls"`
	Prefix Prefix     `json:"prefix"`
	Millis int64      `json:"duration_ms"`
	Cost   float64    `json:"cost_usd,omitempty"` // by the list prices; 0 if they are not known

	Conversation string `json:"conversation"` // as in the line end
}

// OfStep returns the line for a step, and false for one that has none.
func OfStep(s *agent.Step) (l Line, ok bool) {
	defer func() { l.Of = s.Of }()
	switch {
	case s.Text != "":
		return Line{Type: "text", Depth: s.Depth, Text: s.Text}, true
	case s.Thought != "":
		return Line{Type: "thought", Depth: s.Depth, Text: s.Thought}, true
	case s.Call != nil:
		return Line{Type: "call", Depth: s.Depth, ID: s.Call.ID, Tool: s.Call.Name, Args: s.Call.Args}, true
	case s.Result != nil:
		return Line{Type: "result", Depth: s.Depth, ID: s.Result.Call.ID, Call: CallOf(s)}, true
	case s.Usage != nil:
		return Line{Type: "usage", Depth: s.Depth, Usage: s.Usage}, true
	case s.Notice != "":
		return Line{Type: "notice", Depth: s.Depth, Text: s.Notice}, true
	}
	return Line{}, false
}

// CallOf returns the call that a step ends.
func CallOf(s *agent.Step) *Call {
	r := &s.Result.Result
	c := &Call{Tool: s.Result.Call.Name, Args: s.Result.Call.Args, Success: r.Success, Error: string(r.Error), Message: r.Message,
		Millis: r.Duration.Milliseconds(), SubAgent: s.Depth > 0}
	if !r.Success {
		c.Cause = r.Reason
		if c.Cause == "" {
			c.Cause = r.Cause().String()
		}
	}
	switch result, err := json.Marshal(r.Result); {
	case s.Result.Cut || err != nil:
		c.Text = s.Result.Text
	case r.Result != nil:
		c.Result = result
	}
	return c
}

// OfEvent returns the line for what happens during a call, and false for an event that has none: the calls and results of steps say
// when a call begins and ends.
func OfEvent(e *tool.Event) (Line, bool) {
	l := Line{Type: string(e.Kind), Depth: e.Depth, ID: e.Call, Text: e.Text}
	switch e.Kind {
	case tool.EventOutput:
		l.Left = e.Left
	case tool.EventProgress:
		l.Done, l.Total = e.Done, e.Total
	case tool.EventNeeds:
		l.Need = &Need{Kind: string(e.Need.Kind), Name: e.Need.Name, Refused: e.Need.From != ""}
	default:
		return Line{}, false
	}
	return l, true
}
