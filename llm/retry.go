package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryOptions configures Retry. The zero value is useful.
type RetryOptions struct {
	Attempts int           // number of attempts; 0 means 4, 1 means no retry
	Base     time.Duration // wait before the second attempt, doubled for each further attempt; 0 means 500 ms
	Max      time.Duration // the longest wait, even if a provider asks for more; 0 means 60 s

	// Waiting is called before each wait; may be nil.
	Waiting func(err error, wait time.Duration)
	// Sleep waits for d or until ctx is done; nil means with a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Retry returns a model that repeats a request to m after a temporary failure, as long as nothing of the answer has been
// yielded, because what the caller has seen cannot be taken back. It respects the provider's Retry-After; if that exceeds
// Max, it does not try again.
func Retry(m Model, o *RetryOptions) Model {
	r := &retry{model: m}
	if o != nil {
		r.RetryOptions = *o
	}
	if r.Attempts == 0 {
		r.Attempts = 4
	}
	if r.Base == 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Max == 0 {
		r.Max = time.Minute
	}
	if r.Sleep == nil {
		r.Sleep = sleep
	}
	return r
}

type retry struct {
	RetryOptions
	model Model
}

// Stream yields the events of the first attempt that succeeds.
func (r *retry) Stream(ctx context.Context, q *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for attempt := 1; ; attempt++ {
			again, err := r.try(ctx, q, yield)
			if err == nil {
				return
			}
			wait, ok := r.wait(err, attempt)
			if !again || !ok {
				yield(Event{}, err)
				return
			}
			if r.Waiting != nil {
				r.Waiting(err, wait)
			}
			if err := r.Sleep(ctx, wait); err != nil {
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

// wait returns how long to wait after an error of an attempt, and whether to try again.
func (r *retry) wait(err error, attempt int) (time.Duration, bool) {
	var e *Error
	if attempt >= r.Attempts || !errors.As(err, &e) || !e.Temporary() || e.RetryAfter > r.Max {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	d := max(0, r.Base)
	for n := 1; n < attempt; n++ {
		if d >= r.Max/2 {
			d = r.Max
			break
		}
		d *= 2
	}
	d = max(0, min(d, r.Max))
	return d/2 + rand.N(d/2+1), true
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
