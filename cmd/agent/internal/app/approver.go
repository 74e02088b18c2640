package app

import (
	"context"
	"errors"
)

// Question is what a person is asked, and what they have to see to answer it. Both may hold foreign text.
type Question struct {
	Text    string
	Details []string // shown above the question, line by line

	// Nobody is the error where nobody is there to answer, and Instead what to do then.
	Nobody, Instead string
}

// TerminalApprover asks the person at the terminal. Every question of the program goes through its method Ask.
type TerminalApprover struct {
	confirm func(ctx context.Context, text string, details []string) (bool, error)
	there   func() bool
}

// NewTerminalApprover returns an approver that asks on a command's streams, below everything that was printed before.
func NewTerminalApprover(out *Printer) *TerminalApprover {
	return &TerminalApprover{there: out.CanAsk, confirm: func(ctx context.Context, text string, details []string) (yes bool, err error) {
		out.Apart(func() {
			if err = out.Flush(); err == nil {
				yes, err = out.Confirm(ctx, text, details)
			}
		})
		return yes, err
	}}
}

// NewChatApprover returns an approver that asks with confirm, where somebody can be asked.
func NewChatApprover(confirm func(ctx context.Context, text string, details []string) (bool, error)) *TerminalApprover {
	return &TerminalApprover{confirm: confirm, there: func() bool { return true }}
}

// There reports whether somebody can be asked.
func (t *TerminalApprover) There() bool { return t.there() }

// Ask puts a question and reports whether the answer was yes. Where nobody is there, it asks and prints nothing; the
// answer is no then, or the error that the question names.
func (t *TerminalApprover) Ask(ctx context.Context, q *Question) (bool, error) {
	if !t.there() {
		if q.Nobody != "" {
			return false, Denied(errors.New(q.Nobody), q.Instead)
		}
		return false, nil
	}
	return t.confirm(ctx, q.Text, q.Details)
}
