package dispatch

import (
	"context"
	"encoding/json"
	"errors"
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
	Silent   bool      `json:"silent,omitempty"` // for so long that it gets no run
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

// report is what a dispatcher knows.
type report struct {
	Server  string
	Alone   bool
	Workers []WorkerView
	Busy    map[string]int // runs that workers have, by tenant
	Oldest  time.Time      // of the runs that are held
	Runs    []RunView      // where they are asked for: those that workers have, and that ended lately
}

// Bounds of a report.
const (
	maxReported = 4000
	maxLately   = 100
	maxVersion  = 64 // bytes, of what a worker says
)

// goneTime is how long a node is silent before it counts as gone. Its leader hears it every second.
const goneTime = 10 * time.Second

const reportSubject = "report"

// report answers what it knows.
func (d *Dispatcher) report(m *nats.Msg) {
	d.mu.Lock()
	d.tidy()
	r := &report{Server: d.q.conn.ConnectedServerName(), Alone: d.Alone != nil, Busy: map[string]int{}, Oldest: d.oldest}
	for _, w := range d.workers {
		v := w.WorkerView
		v.Silent = !d.here(w)
		r.Workers = append(r.Workers, v)
	}
	for _, f := range d.wake {
		if f.seen.Worker != "" {
			r.Busy[f.r.Tenant]++
			r.Runs = append(r.Runs, f.seen)
		} else if f.seen.Ended.IsZero() && (r.Oldest.IsZero() || f.seen.Queued.Before(r.Oldest)) { // its own worker is not there yet
			r.Oldest = f.seen.Queued
		}
	}
	r.Runs = append(r.Runs[:min(len(r.Runs), maxReported)], d.lately...)
	d.mu.Unlock()
	if len(m.Data) == 0 {
		r.Runs = nil
	}
	if text, err := json.Marshal(r); err == nil {
		_ = m.Respond(text)
	}
}

// Look returns the fleet of a node. With limit it has runs: those that workers have, at most limit of those that wait, and those that ended
// lately. It may be called where the queue was never opened. The error may be ErrRights.
func Look(ctx context.Context, conn *nats.Conn, limit int) (*View, error) {
	v := &View{Nodes: []NodeView{}, Servers: []string{}, Waiting: map[string]int{}, Workers: []WorkerView{}}
	reports, err := gather(ctx, conn, limit > 0)
	if err != nil {
		return nil, err
	}
	busy := v.add(reports)
	err = v.kept(ctx, conn, busy, limit)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound): // nothing was ever queued
		err = nil
	case ctx.Err() == nil && patience.Silent(err):
		v.Leaderless, err = true, nil
	}
	return v, err
}

// kept adds what the nodes keep.
func (v *View) kept(ctx context.Context, conn *nats.Conn, busy map[string]int, limit int) error {
	js, err := jetstream.New(conn, jetstream.WithDefaultTimeout(patience.Answer))
	if err != nil {
		return err
	}
	runs, err := js.Stream(ctx, runsName)
	if err != nil {
		return err
	}
	info, err := runs.Info(ctx, jetstream.WithSubjectFilter(runsOf+"*"))
	if err != nil {
		return err
	}
	v.queue(info, busy)
	claims, err := js.Stream(ctx, claimsName)
	if err != nil {
		return err
	}
	s := claims.CachedInfo()
	v.Disk["claims"] = Use{s.State.Bytes, uint64(s.Config.MaxBytes)}
	if limit > 0 {
		return v.waiting(ctx, runs, info.State.FirstSeq, limit)
	}
	return nil
}

// add adds what dispatchers know, and returns the runs that workers have, by tenant.
func (v *View) add(reports []report) map[string]int {
	busy, workers := map[string]int{}, map[string]*WorkerView{}
	for _, r := range reports {
		v.Servers = append(v.Servers, r.Server)
		v.Alone = v.Alone || r.Alone
		for tenant, n := range r.Busy {
			busy[tenant] += n
			v.Running += n
		}
		for _, w := range r.Workers {
			if last := workers[w.Name]; last == nil || w.Heard.After(last.Heard) {
				workers[w.Name] = &w
			}
		}
		if v.Oldest.IsZero() || !r.Oldest.IsZero() && r.Oldest.Before(v.Oldest) {
			v.Oldest = r.Oldest
		}
		v.Runs = append(v.Runs, r.Runs...)
	}
	for _, r := range v.Runs {
		if w := workers[r.Worker]; w != nil && r.Ended.IsZero() {
			w.Runs = append(w.Runs, r.ID)
		}
	}
	for _, w := range workers {
		v.Workers = append(v.Workers, *w)
	}
	slices.SortFunc(v.Workers, func(a, b WorkerView) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(v.Servers)
	return busy
}

// queue adds what the stream of runs says.
func (v *View) queue(info *jetstream.StreamInfo, busy map[string]int) {
	for s, n := range info.State.Subjects {
		tenant := subject.Name(strings.TrimPrefix(s, runsOf))
		if left := int(n) - busy[tenant]; left > 0 { //nolint:gosec // a tenant has at most a quota
			v.Waiting[tenant] = left
		}
	}
	switch {
	case len(v.Waiting) == 0:
		v.Oldest = time.Time{}
	case len(v.Servers) == 0:
		v.Oldest = info.State.FirstTime
	}
	v.Quota = int(info.Config.MaxMsgsPerSubject)
	v.Disk = map[string]Use{"queue": {info.State.Bytes, uint64(info.Config.MaxBytes)}}
	c := info.Cluster
	if c == nil {
		return
	}
	if v.Leaderless = c.Leader == ""; v.Leaderless { // a node answers that does not know about the others
		return
	}
	v.Nodes = append(v.Nodes, NodeView{Name: c.Leader, Leads: true})
	for _, p := range c.Replicas {
		gone := p.Offline || p.Active > goneTime || p.Active == 0 // which means: not heard since this leader leads

		if strings.Contains(p.Name, " ") { // the leader began after that node was gone
			p.Name, gone = "unknown", true
		}
		v.Nodes = append(v.Nodes, NodeView{Name: p.Name, Gone: gone})
	}
	slices.SortFunc(v.Nodes, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
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
func gather(ctx context.Context, conn *nats.Conn, runs bool) (out []report, _ error) {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may have ended
	var body []byte
	if runs {
		body = []byte("runs")
	}
	asked := time.Now()
	if err := conn.PublishRequest(reportSubject, inbox, body); err != nil {
		return nil, err
	}
	for left := patience.Answer; ; {
		once, cancel := context.WithTimeout(ctx, left)
		m, err := sub.NextMsgWithContext(once)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(out) == 0 && denied(conn, err):
			return nil, ErrRights
		case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders):
			return out, nil
		case err != nil:
			return nil, err
		}
		var r report
		if json.Unmarshal(m.Data, &r) == nil && r.Server != "" {
			if len(out) == 0 {
				left = time.Since(asked) + 100*time.Millisecond
			}
			out = append(out, r)
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
	var a *nats.Msg
	once, cancel := context.WithTimeout(ctx, patience.Answer)
	defer cancel()
	if a, err = conn.RequestMsgWithContext(once, m); err == nil {
		return strconv.Atoi(a.Header.Get(headBusy))
	}
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		err = ErrNoWorker
	case denied(conn, err):
		err = ErrRights
	}
	return 0, err
}
