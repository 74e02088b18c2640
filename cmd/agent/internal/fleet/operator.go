package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// Operator looks at a fleet, and drains its workers.
type Operator struct{ conn *nats.Conn }

// Operate connects to a node that another process has, or to the server that the options name. The error may be node.ErrNobody.
func Operate(at *node.Options) (*Operator, error) {
	if at.Remote != nil {
		conn, err := at.Remote.Connect(at.Log)
		return &Operator{conn}, err
	}
	n, err := node.Join(at.Dir)
	if err != nil {
		return nil, err
	}
	return &Operator{n.Conn()}, nil
}

// Close ends the connection.
func (o *Operator) Close() { o.conn.Close() }

// Drain is that of package dispatch.
func (o *Operator) Drain(ctx context.Context, worker string, undo bool) (runs int, err error) {
	return dispatch.Drain(ctx, o.conn, worker, undo)
}

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

// Look returns the fleet, with at most limit runs that wait; with 0 it has no runs.
func (o *Operator) Look(ctx context.Context, limit int) (*Health, error) {
	v, err := dispatch.Look(ctx, o.conn, limit)
	if err != nil {
		return nil, err
	}
	return judge(v), nil
}

func (h *Health) add(what, cure string) { h.Problems = append(h.Problems, Problem{what, cure}) }

// nearly is the part of a bound from which something counts as nearly full.
const nearly = 0.9

// Places returns the places of the workers that take runs, and how many of them are free.
func (h *Health) Places() (free, all int) {
	for _, w := range h.Workers {
		if !w.Silent && !w.Draining {
			free, all = free+w.Free, all+w.Places
		}
	}
	return free, all
}

// Tenants returns those whose runs wait, the one with the most first.
func (h *Health) Tenants() []string {
	return slices.SortedFunc(maps.Keys(h.Waiting), func(a, b string) int { return cmp.Or(h.Waiting[b]-h.Waiting[a], strings.Compare(a, b)) })
}

// judge says what is wrong.
func judge(v *dispatch.View) *Health {
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
			h := &Health{View: v}
			f.o.Meter.Looked(h)
			f.mu.Lock()
			f.view, f.looked = h, time.Now()
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
	case f.view == nil: // it has just begun
		return nil
	}
	for what, use := range f.view.Disk {
		if use.Used+dispatch.MaxOrder > use.Of {
			return fmt.Errorf("the %s is full", what)
		}
	}
	return nil
}
