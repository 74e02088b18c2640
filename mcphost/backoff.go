package mcphost

import (
	"sync"
	"time"
)

// Waits between failed starts.
const (
	firstWait = time.Second
	mostWait  = time.Minute
)

// Backoff says when what has failed may be started again. The zero value is one without failures. It is safe for concurrent use.
type Backoff struct {
	mu    sync.Mutex
	fails int
	last  error
	retry time.Time
}

// Failed notes a failure at a time: the second start after it has to wait, at least as long as the failed one took.
func (b *Backoff) Failed(err error, now time.Time, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails++
	b.last = err
	wait := Delay(b.fails)
	if wait > 0 {
		wait = min(max(wait, took), mostWait)
	}
	b.retry = now.Add(wait)
}

// Worked notes that it works: what failed before is forgotten.
func (b *Backoff) Worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails, b.last, b.retry = 0, nil, time.Time{}
}

// Wait returns how long a start has to wait at a time, not above 0 if it has not to; how many failures there were in a row, and the last one.
func (b *Backoff) Wait(now time.Time) (wait time.Duration, failures int, last error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.retry.Sub(now), b.fails, b.last
}

// Delay is how long a start has to wait after some failures in a row.
func Delay(failures int) time.Duration {
	if failures < 2 {
		return 0
	}
	return min(firstWait<<min(failures-2, 10), mostWait)
}
