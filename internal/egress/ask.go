package egress

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/script/runner"
)

// question is one about a host. It belongs to the run and not to a connection: clients give up and come back.
type question struct {
	end     context.CancelFunc
	target  string        // HOST:PORT of the first connection that waits
	done    chan struct{} // closed when there is an answer
	verdict runner.Verdict
	waiting int  // connections
	used    bool // a connection went on with a yes
}

// errLeft is the error of a connection that the command gave up while a person was asked.
var errLeft = errors.New("the command did not wait for the answer")

// mostAsked is how many hosts one run asks about.
const mostAsked = 50

// admit returns nil for a host that may be reached as far as its name says. It waits for the answer to a question about it.
func (p *Proxy) admit(ctx context.Context, t target) error {
	switch {
	case p.denied != nil && p.denied(asPattern(t)):
		return ErrNotAllowed
	case matches(p.hosts, t), matches(p.private, t):
		return nil
	case p.ask == nil, hostname.IsLocal(t.host):
		return ErrNotAllowed
	}
	q := p.question(ctx, t)
	if q == nil {
		return ErrNotAllowed
	}
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q.waiting--
	if ctx.Err() != nil {
		return errLeft
	}
	switch q.verdict {
	case runner.Yes:
		q.used = true
		return nil
	case runner.No:
		return ErrSaidNo
	}
	return ErrNotAllowed
}

// asPattern returns the target as hostname.Parse reads it: without the ports that a pattern means anyway.
func asPattern(t target) string {
	h := hostname.Pattern{Host: t.host, Port: t.port}
	if t.port == 443 || t.port == 80 {
		h.Port = 0
	}
	return h.String()
}

// question returns the question about a host, which it asks if nobody did; nil if there were too many.
func (p *Proxy) question(ctx context.Context, t target) *question {
	host := asPattern(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.asked[host]
	if ok {
		q.waiting++
	}
	if ok || len(p.asked) == mostAsked || p.closed {
		return q
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx)) // it stays when the connection leaves
	q = &question{waiting: 1, end: end, target: t.String(), done: make(chan struct{})}
	p.asked[host] = q
	go func() {
		defer end()
		verdict := p.ask(life, host)
		p.mu.Lock()
		q.verdict = verdict
		p.mu.Unlock()
		close(q.done)
	}()
	return q
}

// Settle waits until no question is open, or ctx is done.
func (p *Proxy) Settle(ctx context.Context) {
	p.mu.Lock()
	all := maps.Clone(p.asked)
	p.mu.Unlock()
	for _, q := range all {
		select {
		case <-q.done:
		case <-ctx.Done():
			return
		}
	}
}

// unanswered returns the hosts about which nobody said anything, as HOST:PORT. p.mu is held.
func (p *Proxy) unanswered() []runner.Refusal {
	var out []runner.Refusal
	for _, q := range p.asked {
		if q.verdict == runner.Unanswered {
			out = append(out, runner.Refusal{Host: q.target})
		}
	}
	slices.SortFunc(out, func(a, b runner.Refusal) int { return strings.Compare(a.Host, b.Host) })
	return out
}

// Late returns the hosts that were allowed when the command no longer waited for them, in alphabetical order.
func (p *Proxy) Late() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for host, q := range p.asked {
		if q.verdict == runner.Yes && !q.used {
			out = append(out, host)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}
