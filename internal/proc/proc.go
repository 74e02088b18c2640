// Package proc waits for a process within its time, ends it with its children and keeps what it writes within bounds. It starts
// nothing: runner.Exec, the sandbox and package git start processes in their own ways and share the rest.
package proc

import (
	"context"
	"time"
)

// WaitDelay is how long to wait for pipes that a process left behind holds open after the command has ended.
const WaitDelay = 2 * time.Second

// Process is a started process.
type Process interface {
	Wait()      // returns when it has ended; called once
	Terminate() // asks it to end
	Kill()      // ends it and its children
}

// Bounds says when a process is to end.
type Bounds struct {
	Timeout time.Duration   // of wall clock time, without what Clock stood still
	Clock   *Clock          // may be nil
	Grace   time.Duration   // between Terminate and Kill
	Full    <-chan struct{} // closed when it has written enough; may be nil
	Room    Room            // on disk; a process that takes more is killed without grace
}

// Ending is why a process was asked to end. It is the zero value if it ended by itself or because ctx is done.
type Ending struct {
	TimedOut bool
	Stopped  bool // because of Bounds.Full
	Filled   bool // because of Bounds.Room
}

// clockStep is how often at most Supervise looks whether a clock that stands still goes on.
const clockStep = 20 * time.Millisecond

// Supervise waits for the process, and ends it when its time is over or ctx is done. It returns the error of ctx if that is
// why it ended.
func Supervise(ctx context.Context, p Process, b *Bounds) (e Ending, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Wait()
	}()
	begun, timer := time.Now(), time.NewTimer(b.Timeout)
	defer timer.Stop()
	filled, end := b.Room.watch()
	defer end()
	for more := true; more; {
		more = false
		select {
		case <-done:
			return e, nil
		case <-b.Full:
			e.Stopped = true
		case <-timer.C:
			left := b.Timeout - (time.Since(begun) - b.Clock.Stood())
			if more = left > 0; more {
				timer.Reset(max(left, clockStep))
			}
			e.TimedOut = !more
		case <-filled:
			e.Filled = true
			p.Kill()
			<-done
			return e, nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.Terminate()
	timer.Reset(b.Grace)
	select {
	case <-done:
	case <-timer.C:
		p.Kill()
		<-done
	}
	return e, err
}
