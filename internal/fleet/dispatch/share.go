package dispatch

import (
	"maps"
	"time"
)

// Where one tenant has all places, the next run of another one waits for about as long as a run takes. So a tenant that has more than its
// share leaves some places to those that had them lately.
const (
	lately = 10 // beats
	spared = 4  // one of so many places is left at most
)

// use is what a tenant has under way here.
type use struct {
	now  int
	most int       // it had lately
	at   time.Time // when it still had that many
}

// counts adds to what a tenant has under way. The caller holds the lock.
func (d *Dispatcher) counts(tenant string, more int) {
	u := d.going[tenant]
	was := u.now
	u.now += more
	if had := max(was, u.now); had >= u.most || d.old(u) {
		u.most, u.at = had, time.Now()
	}
	d.going[tenant] = u
	maps.DeleteFunc(d.going, func(_ string, u use) bool { return u.now == 0 && d.old(u) })
}

// old reports whether a tenant had the most so long ago that it does not count. The caller holds the lock.
func (d *Dispatcher) old(u use) bool { return time.Since(u.at) > lately*d.q.o.Beat }

// may reports whether the tenant of a run may have one more of the free places.
func (d *Dispatcher) may(f *follower) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, all, others, lack, here := 0, 0, 0, 0, 0
	for _, w := range d.workers {
		if d.here(w) && !w.Draining {
			free, all = free+w.Free, all+w.Places
		}
	}
	tenant := f.m.Subject()
	for name, u := range d.going {
		here += u.now
		if name == tenant || d.old(u) && u.now == 0 {
			continue
		}
		if others++; !d.old(u) {
			lack += u.most - u.now
		}
	}
	mine := d.going[tenant].now
	if d.wake[f.r.ID] == f { // the run counts itself, and asks for another place
		mine--
	}
	if here > 0 {
		mine = mine * max(here, all-free) / here // other dispatchers have handed out as much, in proportion
	}
	return mine < max(1, all/(others+1)) || free > min(lack, all/spared)
}
