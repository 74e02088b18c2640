package fakemodel

import (
	"encoding/json"
	"fmt"
)

// Step is one answer of the model. The zero value is an empty answer.
type Step struct {
	Thought string // reasoning before the answer, with a signature that the client must send back with the calls
	Text    string
	Calls   []Call
	Usage   Usage // zero: computed from the sizes
	Stop    Stop  // "": StopCalls with calls, else StopEnd

	// From makes the step when the request arrives, so a script can use real results. It is called without a lock, and
	// in parallel for concurrent requests. The other fields except Forever are then ignored.
	From    func(*Request) Step
	Forever bool // in the last step: it also answers all later requests

	Delta  int  // characters of text or arguments in one stream event; 0 means 12
	Drip   bool // each byte of the answer is sent by itself, so reads also end within characters
	NoIDs  bool // calls have no ID on the Gemini wire, as with its older models
	Silent bool // a stream without usage, as from many local servers; on the chat wire only

	// A Status of 400 or more makes the answer an error of the wire with that status.
	Status     int
	Message    string
	Code       string // "": the wire's usual word for the status
	RetryAfter string // the header, unchanged; "" for none
	Body       string // sent instead of the wire's form, as a proxy would

	Fault Fault
}

// Call is a tool call of the model.
type Call struct {
	ID   string // "": the server makes one
	Name string
	Args string // JSON, or any text if a test needs malformed arguments; "" is {}

	// Signature is set only in requests: the signature that the client sent back for the reasoning before the call.
	Signature string
}

// Usage counts tokens. Input is the whole request, including its cached part.
type Usage struct{ Input, CacheRead, CacheWrite, Output int }

// Stop is the reason why an answer ends.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"
	StopRefused Stop = "refused" // with Text by the model itself, without it by a filter
)

// Fault is a failure of an answer; the zero value is none. It happens after a number of stream events, and for Cut, End
// and Hang after a number of bytes of the next one. An answer that is not streamed is one event.
type Fault struct {
	Kind    FaultKind
	After   int
	Bytes   int
	Release <-chan struct{} // for Hang and Mute: closing it continues the answer; nil: it hangs until the client disconnects
}

// FaultKind is the kind of a failure.
type FaultKind string

// The faults.
const (
	Cut     FaultKind = "cut"     // the connection is aborted
	End     FaultKind = "end"     // the answer ends without an error, but too early
	Hang    FaultKind = "hang"    // nothing more is sent
	Mute    FaultKind = "mute"    // nothing is sent, not even the header
	Garbage FaultKind = "garbage" // one event is not JSON
	Failure FaultKind = "failure" // the stream ends with the wire's error event, with Message and Code
)

// answer is the step for one request, with its defaults filled in.
type answer struct {
	Step
	id        string // of the answer
	model     string
	request   *Request
	signature string // of Thought
}

func newAnswer(step Step, q *Request, number int) *answer {
	a := &answer{Step: step, id: fmt.Sprintf("answer_%d", number), model: q.Model, request: q}
	a.Calls = nil
	for i, c := range step.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", number, i)
		}
		if c.Args == "" {
			c.Args = "{}"
		}
		a.Calls = append(a.Calls, c)
	}
	if step.Thought != "" {
		a.signature = fmt.Sprintf("c2lnbmF0dXJl%04d", number) // base64, as Gemini's are
	}
	if a.Stop == "" {
		a.Stop = StopEnd
		if len(a.Calls) > 0 {
			a.Stop = StopCalls
		}
	}
	if a.Usage == (Usage{}) {
		a.Usage = a.count()
	}
	return a
}

// count computes a plausible usage.
func (a *answer) count() Usage {
	n := len(a.Thought) + len(a.Text)
	for _, c := range a.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return Usage{Input: len(a.request.Body)/4 + 1, Output: n/4 + 1}
}

// pieces splits s into the deltas of a stream. An empty text is one empty piece.
func (a *answer) pieces(s string) []string {
	size := a.Delta
	if size <= 0 {
		size = 12
	}
	var out []string
	for r := []rune(s); ; r = r[size:] {
		if len(r) <= size {
			return append(out, string(r))
		}
		out = append(out, string(r[:size]))
	}
}

// isObject reports whether text is one JSON object.
func isObject(text string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal([]byte(text), &m) == nil && m != nil
}
