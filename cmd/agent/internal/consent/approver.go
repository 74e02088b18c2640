package consent

import (
	"context"
	"errors"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Question is what a person is asked, and what they have to see to answer it. Both may hold foreign text.
type Question struct {
	Text    string
	Details []string // shown above the question, line by line

	// Nobody is the text of the error if nobody can answer, and Instead says what to do then.
	Nobody, Instead string
}

// AskFunc asks a question and returns the answer, as ui.Streams.Ask does.
type AskFunc func(ctx context.Context, q *ui.Question) (string, error)

// Approver asks the person at the terminal. Every question of the program goes through its methods.
type Approver struct {
	ask   AskFunc
	there func() bool
}

// NewApprover returns an approver that asks on a command's streams, below everything that was printed before.
func NewApprover(out *output.Printer) *Approver {
	return &Approver{there: out.CanAsk, ask: func(ctx context.Context, q *ui.Question) (answer string, err error) {
		out.Apart(func() {
			if err = out.Flush(); err == nil {
				answer, err = out.Ask(ctx, q)
			}
		})
		return answer, err
	}}
}

// NewChatApprover returns an approver that asks with ask.
func NewChatApprover(ask AskFunc) *Approver {
	return &Approver{ask: ask, there: func() bool { return true }}
}

// There reports whether a person can be asked.
func (t *Approver) There() bool { return t.there() }

// Ask asks a question and reports whether the answer was yes. Without a person to ask it prints nothing and returns
// false, or the error of the question.
func (t *Approver) Ask(ctx context.Context, q *Question) (bool, error) {
	if !t.there() {
		if q.Nobody != "" {
			return false, failure.Denied(errors.New(q.Nobody), q.Instead)
		}
		return false, nil
	}
	answer, err := t.ask(ctx, &ui.Question{Text: q.Text, Details: q.Details})
	return answer == "y", err
}

// Answer asks a question with further answers than yes and no and returns the answer, which without a person is "".
func (t *Approver) Answer(ctx context.Context, q *ui.Question) (string, error) {
	if !t.there() {
		return "", nil
	}
	return t.ask(ctx, q)
}
