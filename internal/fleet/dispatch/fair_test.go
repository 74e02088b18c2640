package dispatch

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/subject"
)

// The place that becomes free is for the tenant that has least under way, not for the one that came first.
func TestLeastUnderWayFirst(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, nil)
	runs(t, q.Dispatcher(plain).Serve)
	begun, end := make(chan string, 10), make(chan bool)
	runs(t, worker(t, n, dir, "a", 2, beat, func(_ context.Context, run, _ string) string {
		begun <- run
		<-end
		return ""
	}).Serve)
	defer close(end)
	tenant := func(name string, count int) {
		t.Helper()
		for i := range count {
			submit(t, q, &Run{ID: fmt.Sprint(name, i), Tenant: name, Until: time.Now().Add(time.Minute)})
		}
	}
	has := func(name string, count int) { // at the dispatcher
		t.Helper()
		for range 1500 {
			c, err := q.runs.Consumer(t.Context(), subject.Token(name))
			var info *jetstream.ConsumerInfo
			if err == nil {
				info, err = c.Info(t.Context())
			}
			if err == nil && info.NumAckPending == count {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("the dispatcher has not taken %d runs of %s", count, name)
	}
	tenant("A", 5)
	<-begun
	<-begun
	has("A", 3) // one is held
	tenant("B", 1)
	has("B", 1)
	end <- true
	if got := <-begun; got != "B0" {
		t.Errorf("%s began before the run of the other tenant", got)
	}
}

// A tenant that has its share leaves some places to those that had them lately, and to no others.
func TestShare(t *testing.T) {
	now := time.Now()
	long := now.Add(-(lately + 1) * beat)
	for what, c := range map[string]struct {
		all, free int
		mine      int
		others    []use
		may       bool
	}{
		"alone":                        {8, 1, 7, nil, true},
		"without a place":              {8, 0, 8, nil, false},
		"another was here":             {8, 2, 6, []use{{0, 2, now}}, false},
		"there is more":                {8, 3, 5, []use{{0, 2, now}}, true},
		"it has what it had":           {8, 1, 5, []use{{2, 2, now}}, true},
		"a quarter is enough":          {8, 3, 5, []use{{0, 8, now}}, true},
		"another was here long ago":    {8, 1, 7, []use{{0, 2, long}}, true},
		"another had more long ago":    {8, 1, 6, []use{{1, 8, long}}, true},
		"below the share":              {8, 1, 3, []use{{4, 8, now}}, true},
		"other dispatchers gave more":  {8, 2, 2, []use{{1, 3, now}}, false},
		"many come and go":             {8, 3, 1, slices.Repeat([]use{{0, 1, now}}, 100), true},
		"one more of many":             {8, 1, 1, slices.Repeat([]use{{0, 1, now}}, 100), false},
		"the first of many":            {8, 1, 0, slices.Repeat([]use{{0, 1, now}}, 100), true},
		"of three places none is left": {3, 1, 2, []use{{0, 2, now}}, true},
	} {
		d := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain)
		d.workers["w"] = &known{WorkerView: WorkerView{Places: c.all, Free: c.free, Heard: now}}
		d.workers["leaves"] = &known{WorkerView: WorkerView{Places: 50, Free: 50, Draining: true, Heard: now}}
		f := &follower{d: d, r: run("r"), m: queuedFor("mine")}
		d.going[f.m.Subject()] = use{c.mine, c.mine, now}
		for i, u := range c.others {
			d.going[fmt.Sprint(i)] = u
		}
		if got := d.may(f); got != c.may {
			t.Errorf("%s: %v", what, got)
		}
		if d.wake[f.r.ID] = f; !d.may(f) && c.mine == 1 && c.free > 0 {
			t.Errorf("%s: its only run, which a full worker did not take, has no other place", what)
		}
	}
}

// queuedFor returns a message of the queue of a tenant.
func queuedFor(tenant string) jetstream.Msg { return of{subject: tenant} }

// of is a message of the queue.
type of struct {
	jetstream.Msg
	subject string
	headers nats.Header
}

func (o of) Subject() string      { return o.subject }
func (o of) Headers() nats.Header { return o.headers }
func (o of) Data() []byte         { return nil }
func (o of) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumDelivered: 1}, nil
}

// What a worker says of its places is bounded: it would change the shares of all tenants.
func TestPlacesAreBounded(t *testing.T) {
	for _, row := range [][4]string{{"3", "8", "3", "8"}, {"-1000", "-1000", "0", "0"}, {"9", "8", "8", "8"}, {"1000000", "1000000", "4096", "4096"}} {
		d := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain)
		m := says(&Worker{Name: "w"}, row[0], 0)
		m.Header.Set(headPlaces, row[1])
		d.beat(m)
		if w := d.workers["w"]; fmt.Sprint(w.Free) != row[2] || fmt.Sprint(w.Places) != row[3] {
			t.Errorf("%q are %d free of %d", row[:2], w.Free, w.Places)
		}
	}
}

// What a tenant had counts for some beats after it has less, also if it had it for long.
func TestCounts(t *testing.T) {
	d := (&Queue{o: Options{Beat: 20 * time.Millisecond}}).Dispatcher(plain)
	for range 3 {
		d.counts("a", 1)
	}
	time.Sleep(2 * lately * d.q.o.Beat)
	for range 3 {
		d.counts("a", -1)
	}
	if u := d.going["a"]; u.now != 0 || u.most != 3 {
		t.Errorf("%+v", u)
	}
	time.Sleep(2 * lately * d.q.o.Beat)
	d.counts("b", 1)
	if _, ok := d.going["a"]; ok {
		t.Error("it is not forgotten")
	}
}

// While another tenant comes and goes, one that floods does not have all places. After that it does.
func TestFloodLeavesAPlace(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: 3 * quick})
	runs(t, q.Dispatcher(plain).Serve)
	begun, end := make(chan string, 20), make(chan bool)
	runs(t, worker(t, n, dir, "w", 4, 3*quick, func(_ context.Context, run, _ string) string {
		if begun <- run; run[0] == 'f' {
			<-end
		}
		return ""
	}).Serve)
	defer close(end)
	tenant := func(id string) *Ticket {
		t.Helper()
		return submit(t, q, &Run{ID: id, Tenant: id[:1], Until: time.Now().Add(time.Minute)})
	}
	ended(t, tenant("b0"))
	for i := range 6 {
		tenant(fmt.Sprint("f", i))
	}
	got := []string{<-begun, <-begun, <-begun, <-begun}
	if slices.Sort(got); !slices.Equal(got, []string{"b0", "f0", "f1", "f2"}) {
		t.Errorf("%q have begun", got)
	}
	select {
	case run := <-begun:
		t.Errorf("%s has begun, too", run)
	case <-time.After(2 * quick):
	}
	ended(t, tenant("b1")) // at once: the flood ends nothing
	if run := <-begun; run != "b1" {
		t.Errorf("%s came first", run)
	}
	if run := <-begun; run != "f3" { // after lately
		t.Errorf("then %s", run)
	}
}

// A run that waits takes little memory.
func TestWaitingTakesLittle(t *testing.T) {
	n, _ := start(t)
	q := queue(t, n, nil)
	submit(t, q, run("first"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 64 {
		submit(t, q, run(fmt.Sprint("r", i)))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 64; each > 200<<10 { // with all that the server makes meanwhile
		t.Errorf("each takes %d bytes", each)
	}
}

// Runs that were taken back while they waited end at once, and leave their place to others.
func TestCancelledGivesPlaceBack(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: time.Minute})
	var tickets []*Ticket
	for i := range 5 {
		tickets = append(tickets, submit(t, q, run(fmt.Sprint("c", i))))
		if err := q.Cancel(t.Context(), fmt.Sprint("c", i)); err != nil {
			t.Fatal(err)
		}
	}
	tickets = append(tickets, submit(t, q, run("last")))
	d := q.Dispatcher(plain)
	runs(t, d.Serve)
	w := worker(t, n, dir, "a", 2, time.Minute, func(context.Context, string, string) string { return "" }) // its places are said once
	runs(t, w.Serve)
	knows := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.workers["a"] != nil
	}
	for !knows() {
		if err := w.beat(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	for i, ticket := range tickets {
		want := Cancelled
		if i == 5 {
			want = Done
		}
		if e := ended(t, ticket); e.State != want {
			t.Errorf("run %d is %s", i, e.State)
		}
	}
	empty(t, q)
}
