package llm

import (
	"context"
	"strings"
)

// Answer is a whole stream as one message.
type Answer struct {
	Message Message
	Usage   Usage
	Stop    StopReason
}

// Collect reads the stream of one request to its end. each, which may be nil, sees every event first. On an error the
// answer holds what had arrived. A stream that ends without a reason is an *Error of kind Cut; one that counts tokens
// below 0 is an *Error of kind Malformed.
func Collect(ctx context.Context, m Model, r *Request, each func(Event)) (Answer, error) {
	c := collector{answer: Answer{Message: Message{Role: Assistant}}}
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return c.done(), err
		}
		if u := e.Usage; u != nil && min(u.Input, u.CacheRead, u.CacheWrite, u.Output) < 0 {
			return c.done(), &Error{Kind: Malformed, Message: "the usage counts tokens below 0"}
		}
		if each != nil {
			each(e)
		}
		c.add(e)
	}
	a := c.done()
	switch {
	case a.Stop != "":
		return a, nil
	case ctx.Err() != nil:
		return a, ctx.Err()
	}
	return a, &Error{Kind: Cut, Message: "the answer ended before it was complete"}
}

// collector builds an answer. It joins text in a builder, because adding thousands of pieces one by one would copy the
// whole text each time.
type collector struct {
	answer Answer
	text   strings.Builder
}

func (c *collector) add(e Event) {
	switch {
	case e.Text != "":
		c.text.WriteString(e.Text)
	case e.Call != nil:
		c.part(Part{Call: e.Call})
	case e.State != nil:
		c.part(Part{State: e.State})
	case e.Usage != nil:
		c.answer.Usage = *e.Usage
	case e.Stop != "":
		c.answer.Stop = e.Stop
	}
}

// part appends p after the text that came before it.
func (c *collector) part(p Part) {
	parts := &c.answer.Message.Parts
	if c.text.Len() > 0 {
		*parts = append(*parts, Part{Text: c.text.String()})
		c.text.Reset()
	}
	*parts = append(*parts, p)
}

func (c *collector) done() Answer {
	if c.text.Len() > 0 {
		c.answer.Message.Parts = append(c.answer.Message.Parts, Part{Text: c.text.String()})
		c.text.Reset()
	}
	return c.answer
}

// Text returns the text of the answer.
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
