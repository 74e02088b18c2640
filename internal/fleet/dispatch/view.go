package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
	"github.com/agent-base/agent-base/internal/fleet/subject"
)

// Waiting is the state of a run in a View that no worker has yet.
const Waiting State = "waiting"

// View is a fleet as an operator sees it. It has nothing of what a run says but the name of its skill.
type View struct {
	Nodes      []NodeView     `json:"nodes"`                // that keep the queue; empty if it is Leaderless
	Leaderless bool           `json:"leaderless,omitempty"` // no node leads, so what the nodes keep is not known
	Servers    []string       `json:"servers"`              // the nodes at which runs are handed out, one for each process that does
	Waiting    map[string]int `json:"waiting"`              // runs that no worker has yet, by tenant
	Oldest     time.Time      `json:"oldest,omitzero"`      // since when one of them waits
	Running    int            `json:"running"`              // runs that workers have
	Alone      bool           `json:"alone,omitempty"`      // each run has a worker of its own, so there need not be any
	Quota      int            `json:"quota,omitempty"`      // runs of a tenant that may wait
	Workers    []WorkerView   `json:"workers"`              // by name
	Runs       []RunView      `json:"runs,omitempty"`       // the oldest first; see Look
	Disk       map[string]Use `json:"disk,omitempty"`       // by what is kept: "queue" and "claims"
}

// NodeView is a node.
type NodeView struct {
	Name  string `json:"name"`
	Leads bool   `json:"leads,omitempty"`
	Gone  bool   `json:"gone,omitempty"`
}

// WorkerView is a worker as it last said.
type WorkerView struct {
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	Places   int       `json:"places"`
	Free     int       `json:"free"`
	Draining bool      `json:"draining,omitempty"`
	Silent   bool      `json:"silent,omitempty"`        // for so long that it gets no run
	Clock    int       `json:"clock_seconds,omitempty"` // that its clock is ahead of that of a server, if they differ by more than ten
	Heard    time.Time `json:"heard"`
	Runs     []string  `json:"runs,omitempty"` // their ids, see Look
}

// RunView is a run.
type RunView struct {
	ID     string    `json:"id"`
	Tenant string    `json:"tenant,omitempty"`
	Skill  string    `json:"skill"`
	State  State     `json:"state"`
	Worker string    `json:"worker,omitempty"`
	Queued time.Time `json:"queued"`
	Began  time.Time `json:"began,omitzero"` // not known of a run that another process handed out
	Ended  time.Time `json:"ended,omitzero"`
}

// Use is how much of the room that is set aside is used, in bytes.
type Use struct {
	Used uint64 `json:"used"`
	Of   uint64 `json:"of"`
}

// What a dispatcher reports, and its bounds.
const (
	reportSubject = "report"

	maxReported = 4000
	maxLately   = 100
	maxVersion  = 64 // bytes, of what a worker says
	maxPlaces   = 4096
)

// goneTime is how long a node is silent before it counts as gone. Its leader hears it every second.
const goneTime = 10 * time.Second

// report answers what the dispatcher knows: a View with less than nothing Waiting, for the queue counts the runs that workers have as well.
// It has Runs where they are asked for: those that workers have, and that ended lately.
func (d *Dispatcher) report(m *nats.Msg) {
	d.mu.Lock()
	d.tidy()
	v := &View{Servers: []string{d.q.conn.ConnectedServerName()}, Alone: d.Alone != nil, Waiting: map[string]int{}, Oldest: d.oldest}
	for _, w := range d.workers {
		one := w.WorkerView
		one.Silent, one.Clock = !d.here(w), w.off()
		v.Workers = append(v.Workers, one)
	}
	for _, f := range d.wake {
		if f.seen.Worker != "" {
			v.Running++
			v.Waiting[f.r.Tenant]--
			v.Runs = append(v.Runs, f.seen)
		} else if f.seen.Ended.IsZero() && (v.Oldest.IsZero() || f.seen.Queued.Before(v.Oldest)) { // its own worker is not there yet
			v.Oldest = f.seen.Queued
		}
	}
	v.Runs = append(v.Runs[:min(len(v.Runs), maxReported)], d.lately...)
	d.mu.Unlock()
	if string(m.Data) != "true" {
		v.Runs = nil
	}
	if text, err := json.Marshal(v); err == nil {
		_ = m.Respond(text)
	}
}

// Look returns the fleet of a node. With limit it has runs: those that workers have, at most limit of those that wait, and those that ended
// lately. It may be called where the queue was never opened. The error may be ErrRights.
func Look(ctx context.Context, conn *nats.Conn, limit int) (*View, error) {
	v := &View{Nodes: []NodeView{}, Servers: []string{}, Waiting: map[string]int{}, Workers: []WorkerView{}}
	if err := v.gather(ctx, conn, limit > 0); err != nil {
		return nil, err
	}
	err := v.kept(ctx, conn, limit)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound): // nothing was ever queued
		err = nil
	case ctx.Err() == nil && patience.Silent(err):
		v.Leaderless, err = true, nil
	}
	maps.DeleteFunc(v.Waiting, func(_ string, n int) bool { return n <= 0 })
	if len(v.Waiting) == 0 {
		v.Oldest = time.Time{}
	}
	return v, err
}

// Places returns the places of the workers that take runs, and how many of them are free.
func (v *View) Places() (free, all int) {
	for _, w := range v.Workers {
		if !w.Silent && !w.Draining {
			free, all = free+w.Free, all+w.Places
		}
	}
	return free, all
}

// Tenants returns those whose runs wait, the one with the most first.
func (v *View) Tenants() []string {
	return slices.SortedFunc(maps.Keys(v.Waiting), func(a, b string) int { return cmp.Or(v.Waiting[b]-v.Waiting[a], strings.Compare(a, b)) })
}

// add adds what a dispatcher knows.
func (v *View) add(r *View) {
	v.Servers, v.Workers, v.Runs = append(v.Servers, r.Servers...), append(v.Workers, r.Workers...), append(v.Runs, r.Runs...)
	v.Alone = v.Alone || r.Alone
	v.Running += r.Running
	for tenant, n := range r.Waiting {
		v.Waiting[tenant] += n
	}
	if v.Oldest.IsZero() || !r.Oldest.IsZero() && r.Oldest.Before(v.Oldest) {
		v.Oldest = r.Oldest
	}
}

// sort sorts what was added, keeps what was heard last from each worker, and gives it its runs.
func (v *View) sort() {
	slices.Sort(v.Servers)
	slices.SortFunc(v.Workers, func(a, b WorkerView) int { return cmp.Or(strings.Compare(a.Name, b.Name), b.Heard.Compare(a.Heard)) })
	v.Workers = slices.CompactFunc(v.Workers, func(a, b WorkerView) bool { return a.Name == b.Name })
	has := map[string][]string{}
	for _, r := range v.Runs {
		if r.Ended.IsZero() {
			has[r.Worker] = append(has[r.Worker], r.ID)
		}
	}
	for i := range v.Workers {
		v.Workers[i].Runs = has[v.Workers[i].Name]
	}
}

// kept adds what the nodes keep.
func (v *View) kept(ctx context.Context, conn *nats.Conn, limit int) error {
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience.Answer))
	if err != nil {
		return err
	}
	runs, err := js.Stream(ctx, runsName)
	if err != nil {
		return err
	}
	queue, err := runs.Info(ctx, jetstream.WithSubjectFilter(runsOf+"*"))
	if err != nil {
		return err
	}
	claims, err := js.Stream(ctx, claimsName)
	if err != nil {
		return err
	}
	v.Disk = map[string]Use{}
	for what, info := range map[string]*jetstream.StreamInfo{"queue": queue, "claims": claims.CachedInfo()} {
		v.Disk[what] = Use{info.State.Bytes, uint64(info.Config.MaxBytes)}
	}
	v.Quota = int(queue.Config.MaxMsgsPerSubject)
	for s, n := range queue.State.Subjects {
		v.Waiting[subject.Name(strings.TrimPrefix(s, runsOf))] += int(n) //nolint:gosec // a tenant has at most a quota
	}
	if len(v.Servers) == 0 {
		v.Oldest = queue.State.FirstTime
	}
	v.cluster(queue.Cluster)
	if limit > 0 {
		return v.waiting(ctx, runs, queue.State.FirstSeq, limit)
	}
	return nil
}

// cluster adds the nodes of a cluster, nil if there is none.
func (v *View) cluster(c *jetstream.ClusterInfo) {
	if c == nil || c.Leader == "" { // a node answers that does not know about the others
		v.Leaderless = c != nil
		return
	}
	v.Nodes = append(v.Nodes, NodeView{Name: c.Leader, Leads: true})
	for _, p := range c.Replicas {
		if strings.Contains(p.Name, " ") {
			p.Name, p.Offline = "unknown", true // the leader began after that node was gone
		}
		v.Nodes = append(v.Nodes, NodeView{Name: p.Name, Gone: unheard(p)})
	}
	slices.SortFunc(v.Nodes, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
}

// unheard reports whether the leader has not heard a node lately, or not since it leads.
func unheard(p *jetstream.PeerInfo) bool {
	return p.Offline || p.Active > goneTime || p.Active == 0
}

// waiting adds runs that wait, and sorts all.
func (v *View) waiting(ctx context.Context, runs jetstream.Stream, first uint64, limit int) error {
	known := map[string]bool{}
	for _, r := range v.Runs {
		known[r.ID] = true
	}
	for found := 0; found < limit; first++ {
		m, err := runs.GetMsg(ctx, first, jetstream.WithGetMsgSubject(runsOf+"*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return err
		}
		first = m.Sequence
		if r, err := parse(m.Header, nil); err == nil && !known[r.ID] {
			v.Runs = append(v.Runs, RunView{ID: r.ID, Tenant: r.Tenant, Skill: r.Skill, State: Waiting, Queued: m.Time})
			found++
		}
	}
	slices.SortStableFunc(v.Runs, func(a, b RunView) int { return a.Queued.Compare(b.Queued) })
	return nil
}

// ErrRights means that the credentials of a connection do not let it look at the fleet or drain a worker, such as those of a worker.
var ErrRights = errors.New("these credentials may not look after the fleet")

// gather asks all dispatchers what they know. How many there are is not known: it waits a little after the first has answered.
func (v *View) gather(ctx context.Context, conn *nats.Conn, runs bool) error {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may have ended
	asked := time.Now()
	if err := conn.PublishRequest(reportSubject, inbox, strconv.AppendBool(nil, runs)); err != nil {
		return err
	}
	for left := patience.Answer; ; {
		once, cancel := context.WithTimeout(ctx, left)
		m, err := sub.NextMsgWithContext(once)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case len(v.Servers) == 0 && denied(conn, err):
			return ErrRights
		case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders):
			v.sort()
			return nil
		case err != nil:
			return err
		}
		var r View
		if json.Unmarshal(m.Data, &r) == nil && len(r.Servers) == 1 {
			if len(v.Servers) == 0 {
				left = time.Since(asked) + 100*time.Millisecond
			}
			v.add(&r)
		}
	}
}

// denied reports whether an answer did not come because it was not allowed to ask: a server says that apart from it.
func denied(conn *nats.Conn, err error) bool {
	return errors.Is(err, context.DeadlineExceeded) && errors.Is(conn.LastError(), nats.ErrPermissionViolation)
}

// ErrNoWorker means that no worker of a name is there.
var ErrNoWorker = errors.New("no such worker is there")

// Drain has a worker take no run any more, and end when it has none; undo takes that back as long as it is there. It returns how many runs
// the worker has. The error may be ErrNoWorker or ErrRights.
func Drain(ctx context.Context, conn *nats.Conn, worker string, undo bool) (runs int, err error) {
	if !runID.MatchString(worker) {
		return 0, ErrNoWorker
	}
	m := nats.NewMsg("to." + worker + ".drain")
	m.Header.Set(headUndo, strconv.FormatBool(undo))
	once, cancel := context.WithTimeout(ctx, patience.Answer)
	defer cancel()
	a, err := conn.RequestMsgWithContext(once, m)
	switch {
	case err == nil:
		return strconv.Atoi(a.Header.Get(headBusy))
	case errors.Is(err, nats.ErrNoResponders):
		return 0, ErrNoWorker
	case denied(conn, err):
		return 0, ErrRights
	}
	return 0, err
}
