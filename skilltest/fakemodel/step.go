package fakemodel

import (
	"encoding/json"
	"fmt"
)

// Step is one answer of the model. The zero value is an answer without a word.
type Step struct {
	Thought string // reasoning that comes first, with a signature that the client must send back with the calls
	Text    string
	Calls   []Call
	Usage   Usage // zero: counted from the sizes
	Stop    Stop  // "": StopCalls with calls, else StopEnd

	// From makes the step when the request is there, so that a script can use real results. It is called outside
	// every lock, and for concurrent requests in parallel. The other fields but Forever then do not count.
	From    func(*Request) Step
	Forever bool // of the last step: it answers all that comes after as well

	Delta  int  // characters of text or of arguments in one event of a stream; 0 means 12
	Drip   bool // each byte of the answer is sent by itself, so that reads end within characters too
	NoIDs  bool // on the Gemini wire calls carry no ID, as with its older models
	Silent bool // a stream that tells no usage, as with many local servers; on the chat wire alone

	// An answer with a Status of 400 and more is the error of the wire with that status.
	Status     int
	Message    string
	Code       string // "": the wire's usual word for the status
	RetryAfter string // the header, as it is; "" none
	Body       string // sent instead of the wire's form: what a proxy between says

	Fault Fault
}

// Call is a tool that the model wants called.
type Call struct {
	ID   string // "": the server makes one
	Name string
	Args string // JSON, or any other text where a test needs malformed arguments; "" is {}

	// Signature is set in requests only: what came back of the reasoning before the call.
	Signature string
}

// Usage counts tokens: Input is all of the request, what was cached too.
type Usage struct{ Input, CacheRead, CacheWrite, Output int }

// Stop tells why an answer ends.
type Stop string

// The reasons there are.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"
	StopRefused Stop = "refused" // with Text the model says so itself, without it a filter does
)

// Fault is what goes wrong with an answer; the zero value is nothing. It happens after some events of the stream, and
// Cut, End and Hang then after some bytes of the next one. An answer that is no stream is one event.
type Fault struct {
	Kind    FaultKind
	After   int
	Bytes   int
	Release <-chan struct{} // of Hang and Mute: closing it lets the answer go on; nil: it hangs until the client leaves
}

// FaultKind tells what goes wrong.
type FaultKind string

// The faults there are.
const (
	Cut     FaultKind = "cut"     // the connection breaks off
	End     FaultKind = "end"     // the answer ends in good order, but too early
	Hang    FaultKind = "hang"    // nothing more comes
	Mute    FaultKind = "mute"    // nothing comes at all, not even the header
	Garbage FaultKind = "garbage" // one event is not JSON
	Failure FaultKind = "failure" // the wire's error event ends the stream; Message and Code are in it
)

// answer is a step that is due, with all that it left open.
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

// count makes up a usage of a likely size.
func (a *answer) count() Usage {
	n := len(a.Thought) + len(a.Text)
	for _, c := range a.Calls {
		n += len(c.Name) + len(c.Args)
	}
	return Usage{Input: len(a.request.Body)/4 + 1, Output: n/4 + 1}
}

// pieces cuts s as the deltas of a stream do. An empty text is one empty piece.
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
