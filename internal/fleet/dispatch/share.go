package dispatch

import (
	"maps"
	"time"
)

// Where one tenant has all places, a run of another one waits until one is free, which takes nearly as long as a run where all take equally
// long. So a tenant that has more than its share leaves some places to those that had them lately.
const (
	lately = 10 // beats
	spared = 4  // one of so many places is left at most
)

// use is what a tenant has under way here.
type use struct {
	now  int
	most int // lately
	at   time.Time
}

// counts adds to what a tenant has under way. The caller holds the lock.
func (d *Dispatcher) counts(tenant string, more int) {
	u := d.going[tenant]
	if u.now += more; u.now >= u.most || time.Since(u.at) > lately*d.q.o.Beat {
		u.most, u.at = u.now, time.Now()
	}
	d.going[tenant] = u
}

// may reports whether a tenant may have one more of the free places. The caller holds the lock.
func (d *Dispatcher) may(tenant string) bool {
	maps.DeleteFunc(d.going, func(_ string, u use) bool { return u.now == 0 && time.Since(u.at) > lately*d.q.o.Beat })
	free, all, others, lack := 0, 0, 0, 0
	for _, w := range d.workers {
		if d.here(w) && !w.Draining {
			free, all = free+w.Free, all+w.Places
		}
	}
	for name, u := range d.going {
		if name != tenant {
			others, lack = others+1, lack+u.most-u.now
		}
	}
	return d.going[tenant].now < max(1, all/(others+1)) || free > min(lack, all/spared)
}
