package dispatch

import "time"

// far is how much the clock of a worker may differ before it is reported.
const far = 10 * time.Second

// takes reports whether a worker begins a run with a deadline, by its clock: one that has not said what that is does. What the clock here says
// does not matter, as the deadline was made by another one.
func (w *known) takes(until time.Time) bool {
	left := time.Until(until) - w.clock
	return !w.told || left > 0 && left <= Longest
}

// past reports whether a deadline has passed, by the clock here and by those of half of the workers: one of them may be wrong.
func (d *Dispatcher) past(until time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fresh() || !time.Now().After(until) {
		return false
	}
	workers, say := 0, 0
	for _, w := range d.workers {
		if d.here(w) && w.told {
			if workers++; time.Until(until) < w.clock {
				say++
			}
		}
	}
	return 2*say >= workers
}
