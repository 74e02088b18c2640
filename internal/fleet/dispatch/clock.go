package dispatch

import "time"

// far is how much the clock of a worker may differ before it is reported.
const far = 10 * time.Second

// clock returns what the clock of a worker says now, also if the one here was set since it was heard; zero if it does not say.
func (w *known) clock() time.Time {
	if w.said.IsZero() {
		return w.said
	}
	return w.said.Add(time.Since(w.Heard))
}

// takes reports whether a worker begins a run with a deadline, by its clock. The clock here does not matter: it did not make the deadline.
func (w *known) takes(until time.Time) bool {
	left := until.Sub(w.clock())
	return w.said.IsZero() || left > 0 && left <= Longest
}

// off returns the seconds that the clock of a worker is ahead of the one here; 0 if that is not far.
func (w *known) off() int {
	if by := time.Until(w.clock()); !w.said.IsZero() && by.Abs() > far {
		return int(by.Seconds())
	}
	return 0
}

// past reports whether a deadline has passed by the clock here and by those of at least half of the workers. Any one of them may be wrong.
func (d *Dispatcher) past(until time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fresh() || !time.Now().After(until) {
		return false
	}
	workers, say := 0, 0
	for _, w := range d.workers {
		if !d.here(w) || w.said.IsZero() {
			continue
		}
		if workers++; w.clock().After(until) {
			say++
		}
	}
	return 2*say >= workers
}
