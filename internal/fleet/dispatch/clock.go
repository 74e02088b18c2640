package dispatch

import (
	"slices"
	"time"
)

// far is how much a clock may differ from those of most workers. A worker whose clock differs more gets no run: it would refuse each. A
// dispatcher whose clock does goes by theirs: it would end each run as late.
const far = 10 * time.Second

// compare finds out what most clocks say, after a worker was heard. The caller holds the lock.
func (d *Dispatcher) compare() {
	all := []time.Duration{0}
	for _, w := range d.workers {
		if d.heardLately(w) {
			all = append(all, w.clock)
		}
	}
	slices.Sort(all)
	d.clock = all[len(all)/2]
	if one := all[(len(all)-1)/2]; one.Abs() < d.clock.Abs() { // of two halves that contradict each other, the one that agrees with us
		d.clock = one
	}
	if d.clock.Abs() <= far {
		d.clock = 0
	}
}

// wrong returns the seconds that a clock is ahead of most, which is so far ahead of the one here; 0 if it is not far. The caller holds the lock.
func (d *Dispatcher) wrong(clock time.Duration) int {
	if by := clock - d.clock; by.Abs() > far {
		return int(by.Seconds())
	}
	return 0
}

// past reports whether a deadline has passed.
func (d *Dispatcher) past(until time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Add(d.clock).After(until)
}

// clocks returns those that are wrong, see View. The caller holds the lock.
func (d *Dispatcher) clocks() map[string]int {
	out := map[string]int{}
	if by := d.wrong(0); by != 0 {
		out[d.q.conn.ConnectedServerName()] = by
	}
	for name, w := range d.workers {
		if by := d.wrong(w.clock); by != 0 {
			out[name] = by
		}
	}
	return out
}
