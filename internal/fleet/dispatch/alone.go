package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// DefaultStart is how long the worker of a run that has one alone may take to be there, if a Dispatcher does not say.
const DefaultStart = 5 * time.Minute

// Alone starts a worker for one run, and ends it. Its methods may be called again for the same run, also by another process.
type Alone interface {
	// Start starts the worker of a run, under a name. It returns nil if that worker exists already.
	Start(ctx context.Context, r *Run, worker string) error

	// Stop ends the worker of a run that has ended. It returns nil if there is none.
	Stop(ctx context.Context, run string) error

	// Why says what keeps the worker of a run from being there; "" if nothing is known. Over means that it never comes, or never again.
	Why(ctx context.Context, run string) (why string, over bool, err error)
}

// workerOf returns the name of the worker that a run has alone. It is the same in every dispatcher.
func workerOf(run string) string {
	sum := sha256.Sum256([]byte(run))
	return "run-" + hex.EncodeToString(sum[:16])
}

// own takes a place at the worker of a name; nil if it has none.
func (d *Dispatcher) own(name string) *To {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.workers[name]; d.here(w) {
		return w.take()
	}
	return nil
}

// pick takes a place for the run; nil if there is none for it.
func (f *follower) pick(ctx context.Context) *To {
	switch {
	case f.d.Alone != nil:
		return f.d.own(workerOf(f.r.ID))
	case !f.d.may(f):
		return nil
	case f.r.Stick != "":
		return f.d.stuck(ctx, f.r)
	}
	return f.d.pick(f.r)
}

// waits starts the run's own worker and waits until it is there. It reports false if the run does not go on here.
func (f *follower) waits(ctx context.Context) bool {
	q, began, most := f.d.q, time.Now(), f.d.Start
	if most <= 0 {
		most = DefaultStart
	}
	var failed error
	for beats, started := 0, false; f.to == nil; beats++ {
		if !started {
			failed = f.d.Alone.Start(ctx, f.r, workerOf(f.r.ID))
			started = failed == nil
		}
		if f.to = f.pick(ctx); f.to != nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		late := f.d.past(f.r.Until) || time.Since(began) > most
		if late || started && beats%silence == silence-1 {
			if why, over := f.why(ctx, failed); late || over {
				f.end(ctx, Late, why)
				return false
			}
		}
		_ = f.m.InProgress()
		select {
		case <-ctx.Done():
		case <-f.woken:
		case <-time.After(q.o.Beat):
		}
		c, rev, err := q.claim(ctx, f.r.ID)
		if err == nil && c != nil { // it was taken back, or another dispatcher has it
			f.c, f.rev = c, rev
			return true
		}
	}
	return true
}

// why returns why the run's own worker is not there, and whether it never comes; nothing for a worker that many runs share.
func (f *follower) why(ctx context.Context, failed error) (_ []byte, over bool) {
	if f.d.Alone == nil {
		return nil, false
	}
	text := ""
	if failed == nil {
		text, over, failed = f.d.Alone.Why(ctx, f.r.ID)
	}
	if failed != nil {
		text = failed.Error()
	}
	return fmt.Appendf(nil, "%.1000s", text), over
}
