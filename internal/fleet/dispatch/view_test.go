package dispatch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

func look(t *testing.T, n *node.Node, limit int) *View {
	t.Helper()
	v, err := Look(t.Context(), n.Conn(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits for something that comes soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 300 {
		if is() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal(what)
}

// A look shows runs that wait, that workers have and that have ended, for each tenant, and the workers with their places. It shows nothing of
// what a run says.
func TestLook(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	if v := look(t, n, 9); len(v.Servers) != 0 || len(v.Workers) != 0 || len(v.Waiting) != 0 || v.Disk["queue"].Of != 256<<20 || v.Disk["claims"].Of != 256<<20 {
		t.Errorf("an empty one: %+v", v)
	}
	runs(t, q.Dispatcher(plain).Serve)
	go1, begun := make(chan bool), make(chan bool)
	w := worker(t, n, dir, "a", 1, quick, func(context.Context, string, string) string { begun <- true; <-go1; return "" })
	w.Version = "v9"
	runs(t, w.Serve)
	of := func(id, tenant string) *Run {
		r := run(id)
		r.Tenant, r.Skill = tenant, "skill of "+id
		return r
	}
	first := submit(t, q, of("r1", "acme"))
	<-begun
	submit(t, q, of("r2", "acme"))
	submit(t, q, of("r3", "b.*> é"))
	second := submit(t, q, of("r4", "acme"))
	var v *View
	until(t, "the oldest is not held", func() bool { v = look(t, n, 9); return !v.Oldest.IsZero() && v.Running == 1 })
	if v.Running != 1 || v.Waiting["acme"] != 2 || v.Waiting["b.*> é"] != 1 || len(v.Waiting) != 2 || time.Since(v.Oldest) > time.Minute || v.Quota != 1000 || len(v.Servers) != 1 {
		t.Errorf("%+v", v)
	}
	if len(v.Nodes) != 0 && (len(v.Nodes) != 1 || v.Nodes[0].Gone) {
		t.Errorf("%+v", v.Nodes)
	}
	if len(v.Workers) != 1 || v.Workers[0].Places != 1 || v.Workers[0].Free != 0 || v.Workers[0].Version != "v9" || v.Workers[0].Silent || !slices.Equal(v.Workers[0].Runs, []string{"r1"}) {
		t.Errorf("%+v", v.Workers)
	}
	var states []State
	for i, id := range []string{"r1", "r2", "r3", "r4"} {
		if len(v.Runs) != 4 || v.Runs[i].ID != id || v.Runs[i].Skill != "skill of "+id || v.Runs[i].Queued.IsZero() {
			t.Fatalf("%+v", v.Runs)
		}
		states = append(states, v.Runs[i].State)
	}
	if !slices.Equal(states, []State{Running, Waiting, Waiting, Waiting}) || v.Runs[0].Worker != "a" || v.Runs[0].Began.IsZero() {
		t.Errorf("%+v", v.Runs)
	}
	if v := look(t, n, 1); len(v.Runs) != 2 {
		t.Errorf("%+v", v.Runs)
	}
	if v := look(t, n, 0); v.Runs != nil || v.Workers[0].Runs != nil || v.Waiting["acme"] != 2 || v.Running != 1 {
		t.Errorf("%+v", v)
	}
	if err := q.Cancel(t.Context(), "r2"); err != nil {
		t.Fatal(err)
	}
	close(go1)
	go func() {
		for range begun {
		}
	}()
	ended(t, first)
	ended(t, second)
	empty(t, q)
	v = look(t, n, 9)
	got := map[string]State{}
	for _, r := range v.Runs {
		got[r.ID] = r.State
		if r.Ended.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if len(v.Runs) != 4 || got["r1"] != Done || got["r2"] != Cancelled || got["r4"] != Done || v.Running != 0 || !v.Oldest.IsZero() || len(v.Waiting) != 0 {
		t.Errorf("%+v", v)
	}
}

// A worker has no right to look, nor to drain another worker.
func TestWorkerLooksNot(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	runs(t, worker(t, n, dir, "a", 1, quick, nil).Serve)
	w := worker(t, n, dir, "b", 1, quick, nil)
	if v, err := Look(t.Context(), w.Conn, 9); !errors.Is(err, ErrRights) {
		t.Errorf("%+v, %v", v, err)
	}
	if n, err := Drain(t.Context(), w.Conn, "a", false); !errors.Is(err, ErrRights) {
		t.Errorf("it has %d runs, %v", n, err)
	}
}

// A worker that is drained takes no run, ends what it has and then ends itself. Before that it can be taken back.
func TestDrain(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	begun, end := make(chan string, 9), make(chan bool)
	do := func(_ context.Context, run, _ string) string { begun <- run; <-end; return "did " + run }
	w := worker(t, n, dir, "a", 3, quick, do)
	served := make(chan error, 1)
	go func() { served <- w.Serve(t.Context()) }()
	first := submit(t, q, run("r1"))
	<-begun
	drain := func(undo bool) {
		t.Helper()
		if has, err := Drain(t.Context(), n.Conn(), "a", undo); has != 1 || err != nil {
			t.Errorf("it has %d runs, %v", has, err)
		}
	}
	drain(false)
	until(t, "nothing says that it is drained", func() bool { w := look(t, n, 0).Workers; return len(w) == 1 && w[0].Draining && w[0].Free == 0 })
	m := nats.NewMsg("to.a.run")
	m.Header.Set(headRun, "r9")
	m.Header.Set(headToken, "1")
	m.Header.Set(headUntil, time.Now().Add(time.Minute).UTC().Format(time.RFC3339Nano))
	if a, err := n.Conn().RequestMsg(m, time.Second); err != nil || State(a.Header.Get(headState)) != full {
		t.Errorf("it takes a run: %v, %v", a, err)
	}
	second := submit(t, q, run("r2"))
	drain(true)
	<-begun // r2
	if has, err := Drain(t.Context(), n.Conn(), "a", false); has != 2 || err != nil {
		t.Errorf("it has %d runs, %v", has, err)
	}
	close(end)
	for _, ticket := range []*Ticket{first, second} {
		if e := ended(t, ticket); e.State != Done {
			t.Errorf("%+v", e)
		}
	}
	if err := <-served; !errors.Is(err, ErrDrained) {
		t.Error(err)
	}
	until(t, "it is still listed", func() bool { return len(look(t, n, 0).Workers) == 0 })
	w.Conn.Close()
	until(t, "the node keeps the worker", func() bool { _, err := Drain(t.Context(), n.Conn(), "a", false); return errors.Is(err, ErrNoWorker) })
	for _, name := range []string{"none", "", "a.b", "*"} {
		if _, err := Drain(t.Context(), n.Conn(), name, false); !errors.Is(err, ErrNoWorker) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A worker that is not heard is silent, and is forgotten later. One that ends itself is not listed any more.
func TestSilent(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	w := worker(t, n, dir, "a", 1, quick, nil)
	runs(t, w.Serve)
	stop := runs(t, worker(t, n, dir, "b", 1, quick, nil).Serve)
	workers := func() []WorkerView { return look(t, n, 0).Workers }
	until(t, "not both are there", func() bool { return len(workers()) == 2 })
	w.Conn.Close()
	stop()
	until(t, "it is not silent", func() bool { all := workers(); return len(all) == 1 && all[0].Name == "a" && all[0].Silent })
	until(t, "it is not forgotten", func() bool { return len(workers()) == 0 })
}

// A node is gone if its leader has not heard it lately, or not since it leads.
func TestGoneNodes(t *testing.T) {
	v := &View{}
	v.cluster(&jetstream.ClusterInfo{Leader: "b", Replicas: []*jetstream.PeerInfo{
		{Name: "a", Current: true, Active: time.Second}, {Name: "c", Current: true}, {Name: "d", Current: true, Active: goneTime + 1}, {Name: "e", Offline: true, Active: 1}, {Name: "not known (x)", Active: 1},
	}})
	want := []NodeView{{Name: "a"}, {Name: "b", Leads: true}, {Name: "c", Gone: true}, {Name: "d", Gone: true}, {Name: "e", Gone: true}, {Name: "unknown", Gone: true}}
	if !slices.Equal(v.Nodes, want) {
		t.Errorf("%+v, want %+v", v.Nodes, want)
	}
}
