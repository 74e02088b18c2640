package proc

import (
	"context"
	"testing"
	"time"
)

// held is a process that ends when it is told to.
type held chan struct{}

func (h held) Wait()      { <-h }
func (h held) Terminate() { close(h) }
func (h held) Kill()      {}

// The time of a process stands still as long as a hold of its clock is open, and goes on afterwards.
func TestSuperviseClock(t *testing.T) {
	const limit, most = 100 * time.Millisecond, time.Minute
	clock := &Clock{}
	one, two := clock.Hold(), clock.Hold()
	begun := time.Now()
	time.AfterFunc(limit, one)
	time.AfterFunc(4*limit, func() { two(); two() })
	e, err := Supervise(context.Background(), make(held), &Bounds{Timeout: limit, Clock: clock, Grace: most})
	took := time.Since(begun)
	if err != nil || !e.TimedOut || took < 5*limit || clock.Stood() < 4*limit || took-clock.Stood() < limit {
		t.Errorf("ended as %+v, %v after %s, of which it stood still for %s", e, err, took, clock.Stood())
	}
	if e, _ := Supervise(context.Background(), make(held), &Bounds{Timeout: limit, Grace: most}); !e.TimedOut {
		t.Errorf("without a clock: %+v", e)
	}
}
