package mcphost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Kept is what a Keeper keeps: a process with its Conn.
type Kept interface {
	comparable
	Take() bool                    // begins a use; false if it is ending
	Settled(context.Context) error // waits until it is known whether it will be ended; the error is that of the context
	Done() <-chan struct{}         // closed when it is gone
	Stop()                         // ends it, and waits until it is gone
}

// Keeper keeps one process for those who use it. It starts one when it is needed, one at a time, and not at once when some have failed.
// Begin is required and must not change. A Keeper must not be copied.
type Keeper[T Kept] struct {
	Begin func(context.Context) (T, error) // starts one, of which one use has begun
	Now   func() time.Time                 // nil means time.Now
	Backoff

	once sync.Once
	turn chan struct{} // held while one is started

	lock   sync.Mutex
	run    T // zero while there is none
	closed bool
	abort  context.CancelFunc // ends a start that is under way; nil without one
}

// ErrClosed is the error of Keeper.Ready after Close.
var ErrClosed = errors.New("it has ended with its conversation")

// WaitError is the error of Keeper.Ready while it has to wait.
type WaitError struct {
	Failures int
	Wait     time.Duration
	Last     error // the last failure
}

// Error says how often it failed, and when it is started again.
func (e *WaitError) Error() string {
	return fmt.Sprintf("it failed %d times and is started again in %s at the earliest: %v", e.Failures, e.Wait.Round(100*time.Millisecond), e.Last)
}

// Unwrap returns the last failure.
func (e *WaitError) Unwrap() error { return e.Last }

func (k *Keeper[T]) now() time.Time {
	if k.Now == nil {
		return time.Now()
	}
	return k.Now()
}

func (k *Keeper[T]) turns() chan struct{} {
	k.once.Do(func() { k.turn = make(chan struct{}, 1) })
	return k.turn
}

// Ready returns what runs, for one use. It starts one if there is none. The error is that of ctx, ErrClosed, a *WaitError or that of Begin.
func (k *Keeper[T]) Ready(ctx context.Context) (T, error) {
	var none T
	select {
	case k.turns() <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if t, err := k.current(ctx); t != none || err != nil {
		return t, err
	}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	k.lock.Lock()
	k.abort = cancel
	k.lock.Unlock()
	t, err := k.begin(starting)
	switch {
	case err == nil:
		return t, nil
	case ctx.Err() != nil:
		return none, ctx.Err()
	case starting.Err() != nil:
		return none, ErrClosed
	}
	return none, err
}

// current returns what runs if there is something, and an error if nothing may be started. It waits for what is ending.
func (k *Keeper[T]) current(ctx context.Context) (T, error) {
	var none T
	if t := k.Current(); t != none {
		if err := t.Settled(ctx); err != nil {
			return none, err
		}
		if t.Take() {
			return t, nil
		}
		select {
		case <-t.Done():
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.closed {
		return none, ErrClosed
	}
	if wait, failures, last := k.Wait(k.now()); wait > 0 {
		return none, &WaitError{failures, wait, last}
	}
	return none, nil
}

func (k *Keeper[T]) begin(ctx context.Context) (T, error) {
	var none T
	t, err := k.Begin(ctx)
	if err != nil {
		return none, err
	}
	k.lock.Lock()
	if k.run = t; !k.closed {
		defer k.lock.Unlock()
		return t, nil
	}
	k.run = none
	k.lock.Unlock()
	t.Stop()
	return none, ErrClosed
}

// Current returns what runs, the zero value without one.
func (k *Keeper[T]) Current() T {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.run
}

// Gone notes that t is gone. An error is counted as a failure; there is none if it was asked to end.
func (k *Keeper[T]) Gone(t T, err error) {
	k.lock.Lock()
	was := k.run == t
	if was {
		var none T
		k.run = none
	}
	k.lock.Unlock()
	if was && err != nil {
		k.Failed(err, k.now(), 0)
	}
}

// Close ends what runs and a start that is under way, and waits for that. Nothing is started afterwards.
func (k *Keeper[T]) Close() {
	k.lock.Lock()
	k.closed = true
	t := k.run
	if k.abort != nil {
		k.abort()
	}
	k.lock.Unlock()
	var none T
	if t != none {
		t.Stop()
	}
	k.turns() <- struct{}{} // a start that is under way has ended then
	<-k.turn
}
