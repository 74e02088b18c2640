package app

import (
	"context"
	"errors"
)

// Question is what a person is asked, and what they have to see to answer it. Both may hold foreign text.
type Question struct {
	Text    string
	Details []string // shown above the question, line by line

	// Nobody is the text of the error if nobody can answer, and Instead says what to do then.
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

// NewChatApprover returns an approver that asks with confirm.
func NewChatApprover(confirm func(ctx context.Context, text string, details []string) (bool, error)) *TerminalApprover {
	return &TerminalApprover{confirm: confirm, there: func() bool { return true }}
}

// There reports whether a person can be asked.
func (t *TerminalApprover) There() bool { return t.there() }

// Ask asks a question and reports whether the answer was yes. Without a person to ask it prints nothing and returns
// false, or the error of the question.
func (t *TerminalApprover) Ask(ctx context.Context, q *Question) (bool, error) {
	if !t.there() {
		if q.Nobody != "" {
			return false, Denied(errors.New(q.Nobody), q.Instead)
		}
		return false, nil
	}
	return t.confirm(ctx, q.Text, q.Details)
}
