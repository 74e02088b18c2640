package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
)

// Health is a fleet with what is wrong with it.
type Health struct {
	Healthy bool `json:"healthy"`
	*dispatch.View
	Problems []Problem `json:"problems"`
}

// Problem is something that is wrong, and what to do.
type Problem struct {
	What string `json:"what"`
	Cure string `json:"cure"`
}

func (h *Health) add(what, cure string) { h.Problems = append(h.Problems, Problem{what, cure}) }

// nearly is the part of a bound from which something counts as nearly full.
const nearly = 0.9

// Judge says what is wrong.
func Judge(v *dispatch.View) *Health {
	h := &Health{View: v, Problems: []Problem{}}
	if v.Leaderless {
		h.add("the nodes do not choose a leader, so no run is taken or handed out", "start those that are gone; here: "+strings.Join(v.Servers, ", "))
	}
	for _, n := range h.Nodes {
		if n.Gone {
			h.add(fmt.Sprintf("node %s is gone", n.Name), "start agent serve there again: the loss of another node may stop the fleet")
		}
	}
	if len(h.Servers) == 0 {
		h.add("no server hands out runs", "agent serve --http ADDR --workers N starts one")
	}
	for _, w := range h.Workers {
		if w.Silent {
			h.add(fmt.Sprintf("worker %s was last heard %s ago", w.Name, Age(w.Heard)), "look at its machine; its runs are reported as lost if it does not come back")
		}
		if by := time.Duration(w.Clock) * time.Second; by != 0 {
			h.add(fmt.Sprintf("the clock of worker %s and that of a server differ by %s", w.Name, by.Abs()), "set the one that is wrong: while they differ, runs fail")
		}
	}
	if _, places := h.Places(); places == 0 && len(h.Servers) > 0 && !h.Alone {
		h.add("no worker takes runs", "agent worker starts one; so does agent serve --http ADDR --workers N")
	}
	for _, what := range slices.Sorted(maps.Keys(h.Disk)) {
		use := h.Disk[what]
		if float64(use.Used) >= nearly*float64(use.Of) {
			h.add(fmt.Sprintf("%d of %d MiB of the %s are used; when it is full, runs are refused", use.Used>>20, use.Of>>20, what), "add workers, or send less: runs that end make room")
		}
	}
	for _, tenant := range h.Tenants() {
		if n := h.Waiting[tenant]; float64(n) >= nearly*float64(h.Quota) {
			h.add(fmt.Sprintf("%d of at most %d runs of tenant %q wait; more are refused", n, h.Quota, tenant), "add workers, or raise the setting serve.queue")
		}
	}
	h.Healthy = len(h.Problems) == 0
	return h
}

// Age returns how long ago a time was, in words.
func Age(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// deaf is after which time without an answer of the nodes no run can be taken: longer than they take to choose a leader.
const deaf = 15 * time.Second

// watch looks at the fleet again and again.
func (f *Fleet) watch(ctx context.Context) {
	for ; ctx.Err() == nil; pause(ctx, 2*beat) {
		f.mu.Lock()
		now := f.now
		f.mu.Unlock()
		if now == nil {
			continue
		}
		v, err := dispatch.Look(ctx, now.node.Conn(), 0)
		if err == nil && !v.Leaderless {
			f.o.Meter.Looked(v)
			f.mu.Lock()
			f.view, f.looked = *v, time.Now()
			f.mu.Unlock()
		}
	}
}

// Ready returns an error if no run can be taken.
func (f *Fleet) Ready() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.now == nil:
		return errNoQueue
	case time.Since(f.looked) > deaf:
		return errors.New("the nodes that keep the queue do not answer, or have no leader")
	}
	for what, use := range f.view.Disk {
		if use.Used+dispatch.MaxOrder > use.Of {
			return fmt.Errorf("the %s is full", what)
		}
	}
	return nil
}
