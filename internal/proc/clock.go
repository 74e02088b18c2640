package proc

import (
	"sync"
	"time"
)

// Clock counts the time for which a process was held up by others, such as a person who is asked something. The zero value and nil count
// none. It is safe for concurrent use.
type Clock struct {
	mu    sync.Mutex
	holds int       // open ones
	since time.Time // the first of them began
	stood time.Duration
}

// Hold stops the clock until the function that it returns is called, which may be more than once. It stands still as long as any hold is
// open.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds++; c.holds == 1 {
		c.since = time.Now()
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.holds--; c.holds == 0 {
			c.stood += time.Since(c.since)
		}
	})
}

// Stood returns for how long the clock stood still until now.
func (c *Clock) Stood() time.Duration {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds > 0 {
		return c.stood + time.Since(c.since)
	}
	return c.stood
}
