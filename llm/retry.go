package llm

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions says how failed requests are repeated. The zero value is useful.
type RetryOptions struct {
	Attempts int           // number of attempts, 1 means no retry; 0 means 4, or with Time as many as it allows
	Time     time.Duration // from the first failure to the last attempt; the last wait is shortened to it; 0 means no limit
	Base     time.Duration // wait before the second attempt, doubled for each further attempt; 0 means 500 ms
	max      time.Duration // the longest wait, even if a provider asks for more; 0 means Time, or without it 60 s

	// Waiting is called before each wait; may be nil. left is how long there may be further attempts after it: 0 if it is the
	// last wait, or if there is no limit.
	Waiting func(err error, wait, left time.Duration)
	// Sleep waits for d or until ctx is done; nil means with a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	Now   func() time.Time // nil means time.Now
}

// Retry returns a model that repeats a request to m after a temporary failure, as long as nothing of the answer has been
// yielded, because what the caller has seen cannot be taken back. It respects the provider's Retry-After; if there is no time
// for it, it does not try again.
func Retry(m Model, o *RetryOptions) Model {
	if o == nil {
		o = &RetryOptions{}
	}
	return &retry{*o, m}
}

type retry struct {
	RetryOptions
	model Model
}

// Stream yields the events of the first attempt that succeeds.
func (r *retry) Stream(ctx context.Context, q *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		patience := r.Patience()
		for {
			again, err := r.try(ctx, q, yield)
			if err == nil {
				return
			}
			if !again {
				yield(Event{}, err)
				return
			}
			if err := patience.Wait(ctx, err); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// try yields one stream. It returns the error, which it does not yield, and whether nothing else was yielded either.
func (r *retry) try(ctx context.Context, q *Request, yield func(Event, error) bool) (again bool, failure error) {
	again = true
	for e, err := range r.model.Stream(ctx, q) {
		if err != nil {
			return again, err
		}
		again = again && e.Usage != nil // usage alone is not an answer
		if !yield(e, nil) {
			return false, nil
		}
	}
	return again, nil
}

// Patience is what is left of the attempts and the time for one request. It is for one goroutine at a time.
type Patience struct {
	o      RetryOptions // with the defaults filled in
	failed int          // attempts
	first  time.Time    // the first failure
}

// Patience returns the patience for a request that was not sent yet.
func (o *RetryOptions) Patience() *Patience {
	p := &Patience{o: *o}
	if p.o.Attempts == 0 && p.o.Time == 0 {
		p.o.Attempts = 4
	}
	if p.o.Base == 0 {
		p.o.Base = 500 * time.Millisecond
	}
	if p.o.max == 0 {
		p.o.max = cmp.Or(p.o.Time, time.Minute)
	}
	if p.o.Sleep == nil {
		p.o.Sleep = sleep
	}
	if p.o.Now == nil {
		p.o.Now = time.Now
	}
	return p
}

// Wait waits after the failure of an attempt. It returns nil if the request should be sent again, else the failure or, if the
// wait was ended, the error of Sleep.
func (p *Patience) Wait(ctx context.Context, failure error) error {
	wait, ok := p.next(failure)
	if !ok {
		return failure
	}
	if p.o.Waiting != nil {
		p.o.Waiting(failure, wait, max(0, p.left()-wait))
	}
	return p.o.Sleep(ctx, wait)
}

// left returns how long there may be further attempts; 0 without a limit.
func (p *Patience) left() time.Duration {
	if p.o.Time == 0 {
		return 0
	}
	return max(0, p.o.Time-p.o.Now().Sub(p.first))
}

// next counts a failed attempt, and returns how long to wait before the next one, and whether there is one.
func (p *Patience) next(err error) (time.Duration, bool) {
	p.failed++
	if p.failed == 1 {
		p.first = p.o.Now()
	}
	var e *Error
	if p.o.Attempts != 0 && p.failed >= p.o.Attempts || !errors.As(err, &e) || !e.Temporary() || e.RetryAfter > p.o.max {
		return 0, false
	}
	left := p.left()
	if p.o.Time > 0 && (left <= 0 || e.RetryAfter > left) {
		return 0, false
	}
	wait := e.RetryAfter
	if wait <= 0 {
		wait = p.backOff()
	}
	if p.o.Time > 0 {
		wait = min(wait, left)
	}
	return wait, true
}

// backOff returns how long to wait where the provider does not say.
func (p *Patience) backOff() time.Duration {
	d := max(0, p.o.Base)
	for range p.failed - 1 {
		if d >= p.o.max/2 {
			d = p.o.max
			break
		}
		d *= 2
	}
	d = max(0, min(d, p.o.max))
	return d/2 + rand.N(d/2+1)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
