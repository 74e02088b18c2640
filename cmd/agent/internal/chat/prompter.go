package chat

import (
	"context"
	"sync"
)

// Prompter passes the questions of tools to the user of a conversation. The zero value is ready for use; it is safe for
// concurrent use.
type Prompter struct {
	mu   sync.Mutex
	show func(event) // nil: nobody is there
}

// Confirm asks whether something may be done, and shows details, line by line, with the question; both may hold foreign
// text. Only "y" or "yes", typed after the question appeared, is a yes. Where no conversation runs in a terminal the
// answer is no, and nothing is shown. The error is ctx's, when that ends first.
func (p *Prompter) Confirm(ctx context.Context, text string, details []string) (bool, error) {
	p.mu.Lock()
	show := p.show
	p.mu.Unlock()
	if show == nil {
		return false, nil
	}
	q := &question{text: text, details: details, answer: make(chan bool, 1)}
	show(askEvent{q})
	select {
	case yes := <-q.answer:
		return yes, nil
	case <-ctx.Done():
		show(withdrawEvent{q})
		return false, context.Cause(ctx)
	}
}

// attach makes show the way to the user; nil takes it away.
func (p *Prompter) attach(show func(event)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show = show
}

// question is one that waits for its answer. The channel takes one answer without a reader.
type question struct {
	text    string
	details []string
	answer  chan bool
}
