package screentest

import (
	"errors"
	"io"
	"time"
)

// Patience is for how long a test waits for something. It is spent in short waits, each of which counts the same however long it took: a busy
// machine has more time, and one that stood still for an hour has lost nothing. What hangs is still found.
type Patience struct {
	left  int
	timer *time.Timer
}

// pause is one of the waits.
const pause = 10 * time.Millisecond

// NewPatience returns what waits two minutes on a quiet machine.
func NewPatience() *Patience { return PatienceOf(2 * time.Minute) }

// PatienceOf returns what waits so long on a quiet machine.
func PatienceOf(d time.Duration) *Patience {
	return &Patience{left: int(d / pause), timer: time.NewTimer(pause)}
}

// ErrLate is the error of Next once the patience is over.
var ErrLate = errors.New("it took too long")

// Next returns the next value of a channel. The error is io.EOF if it is closed, or ErrLate.
func Next[T any](p *Patience, from <-chan T) (T, error) {
	for {
		select {
		case v, ok := <-from:
			if !ok {
				return v, io.EOF
			}
			return v, nil
		case <-p.timer.C:
			if p.left--; p.left <= 0 {
				var none T
				return none, ErrLate
			}
			p.timer.Reset(pause)
		}
	}
}
