package dispatch

import (
	"context"
	"crypto/sha256"
	"time"
)

// stickKey is the key, among the claims, of the worker that has the runs which stick together.
func stickKey(stick string) string { return "stick." + stick }

// stuck takes a place at the worker of the runs that stick together; nil if it has none now. The first of these runs chooses the worker, and
// so does the first one after the worker's end. Runs that come less often than every claimTime/2 may get another worker.
func (d *Dispatcher) stuck(ctx context.Context, r *Run) *To {
	c, rev, err := d.q.claim(ctx, stickKey(r.Stick))
	if err != nil {
		return nil
	}
	var to *To
	if c != nil && d.lives(c) {
		if to = d.own(c.Worker); to == nil {
			return nil
		}
		if e, err := d.q.claims.Get(ctx, stickKey(r.Stick)); err == nil && time.Since(e.Created()) < claimTime/2 {
			return to
		}
	} else if to = d.pick(r); to == nil {
		return nil
	}
	if _, err := d.q.swap(ctx, stickKey(r.Stick), claim{State: Running, Worker: to.Worker, Start: to.Start}, rev); err != nil {
		return nil // another dispatcher was first: its choice holds; the worker says soon that it has a place more
	}
	return to
}

// lives reports whether the worker of a claim is there, in the same start.
func (d *Dispatcher) lives(c *claim) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.workers[c.Worker]
	return d.here(w) && w.to.Start == c.Start
}

// home returns the worker that a name chooses among those that are there, nil for none: the one whose name makes the highest digest with it. So
// all dispatchers choose the same worker, and if one comes or goes, only the names that it has or had choose another. The caller holds the lock.
func (d *Dispatcher) home(name string) (best *known) {
	if d.fresh() {
		return nil
	}
	var highest string
	for at, w := range d.workers {
		if sum := sha256.Sum256([]byte(name + " " + at)); d.here(w) && !w.Draining && string(sum[:]) > highest {
			best, highest = w, string(sum[:])
		}
	}
	return best
}

// fresh reports whether the dispatcher began a moment ago: it has not heard all workers. The caller holds the lock.
func (d *Dispatcher) fresh() bool { return time.Since(d.began) < 2*d.q.o.Beat }
