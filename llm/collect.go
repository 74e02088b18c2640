package llm

import "context"

// Answer is a whole stream, put together.
type Answer struct {
	Message Message
	Usage   Usage
	Stop    StopReason
}

// Collect reads the stream of one request to its end. each, which may be nil, sees every event first. On an error the
// answer holds what had arrived. A stream that ends without a reason is an *Error of kind Cut.
func Collect(ctx context.Context, m Model, r *Request, each func(Event)) (Answer, error) {
	a := Answer{Message: Message{Role: Assistant}}
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return a, err
		}
		if each != nil {
			each(e)
		}
		a.add(e)
	}
	if err := ctx.Err(); err != nil {
		return a, err
	}
	if a.Stop == "" {
		return a, &Error{Kind: Cut, Message: "the answer ended before it was complete"}
	}
	return a, nil
}

func (a *Answer) add(e Event) {
	parts := &a.Message.Parts
	switch {
	case e.Text != "":
		if n := len(*parts); n > 0 && (*parts)[n-1].Text != "" {
			(*parts)[n-1].Text += e.Text
			return
		}
		*parts = append(*parts, Part{Text: e.Text})
	case e.Call != nil:
		*parts = append(*parts, Part{Call: e.Call})
	case e.State != nil:
		*parts = append(*parts, Part{State: e.State})
	case e.Usage != nil:
		a.Usage = *e.Usage
	case e.Stop != "":
		a.Stop = e.Stop
	}
}

// Text returns what the answer says, without its calls.
func (a Answer) Text() string {
	var text string
	for _, p := range a.Message.Parts {
		text += p.Text
	}
	return text
}

// Calls returns the calls of the answer in their order.
func (a Answer) Calls() []*Call {
	var calls []*Call
	for _, p := range a.Message.Parts {
		if p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	return calls
}
