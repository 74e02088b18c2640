package screentest

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// Patience is spent by waiting alone: what a machine that stands still takes is none of it.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, from, begun := NewPatience(), make(chan int), time.Now()
		time.Sleep(time.Hour)
		go func() {
			time.Sleep(119 * time.Second)
			from <- 1
		}()
		if v, err := Next(p, from); v != 1 || err != nil {
			t.Errorf("got %d, %v", v, err)
		}
		if _, err := Next(p, from); !errors.Is(err, ErrLate) || time.Since(begun) > time.Hour+2*time.Minute {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		close(from)
		if _, err := Next(NewPatience(), from); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}
