package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/subject"
)

// beat is long enough for a busy machine not to lose what it should not. Tests that wait for many use quick.
const (
	beat  = time.Second
	quick = 150 * time.Millisecond
)

func start(t *testing.T) (*node.Node, string) {
	t.Helper()
	dir := t.TempDir()
	n, err := node.Open(t.Context(), &node.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, dir
}

func queue(t *testing.T, n *node.Node, o *Options) *Queue {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	if o.Beat == 0 {
		o.Beat = beat
	}
	q, err := Open(t.Context(), n.Conn(), o)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// runs lets something serve until the test ends or stop is called, which waits for it.
func runs(t *testing.T, serve func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	go func() { serve(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

// plain seals an order with its token, to see which attempt a worker works for.
func plain(_ context.Context, r *Run, to *To) ([]byte, error) {
	return fmt.Appendf(nil, "%s for %s %d", r.Order, to.Worker, to.Token), nil
}

// worker is one that does what do says, over its own connection.
func worker(t *testing.T, n *node.Node, dir, name string, slots int, every time.Duration, do func(ctx context.Context, run string, order string) string) *Worker {
	t.Helper()
	seed, err := n.Admit(name)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := node.Dial(dir, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return &Worker{Conn: conn, Name: name, Start: "start of " + name, Slots: slots, Beat: every, Open: func(r *Run, _ uint64) (func(context.Context) []byte, error) {
		if strings.HasPrefix(string(r.Order), "bad") {
			return nil, errors.New("a bad order")
		}
		return func(ctx context.Context) []byte { return []byte(do(ctx, r.ID, string(r.Order))) }, nil
	}}
}

func run(id string) *Run {
	return &Run{ID: id, Until: time.Now().Add(time.Minute), Order: []byte("order")}
}

func submit(t *testing.T, q *Queue, r *Run) *Ticket {
	t.Helper()
	ticket, err := q.Submit(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ticket.Close)
	return ticket
}

// patientWorker starts a worker. Its run "long" sends on begun when it begins, and ends when it receives from goOn.
func patientWorker(t *testing.T, n *node.Node, dir string) (begun, goOn chan bool) {
	t.Helper()
	begun, goOn = make(chan bool, 1), make(chan bool)
	runs(t, worker(t, n, dir, "a", 8, quick, func(_ context.Context, run, _ string) string {
		if run == "long" {
			begun <- true
			<-goOn
		}
		return "did"
	}).Serve)
	return begun, goOn
}

func ended(t *testing.T, ticket *Ticket) *End {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, err := ticket.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// waits until the queue is empty: every run has ended, and said so.
func empty(t *testing.T, q *Queue) {
	t.Helper()
	for range 1500 {
		info, err := q.runs.Info(t.Context())
		if err == nil && info.State.Msgs == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("the queue is not empty")
}

// A run is done by a worker under the token of its claim, and its result comes back. The queue is empty then.
func TestDone(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, nil)
	d := q.Dispatcher(plain)
	var mu sync.Mutex
	got := map[State]int{}
	d.Ended = func(r *RunView) { mu.Lock(); defer mu.Unlock(); got[r.State]++ }
	runs(t, d.Serve)
	runs(t, worker(t, n, dir, "a", 2, beat, func(_ context.Context, run, order string) string { return run + ": " + order }).Serve)
	for i := range 5 {
		id := fmt.Sprintf("r-%d", i)
		e := ended(t, submit(t, q, run(id)))
		if want := fmt.Sprintf("%s: order for a %d", id, e.Token); e.State != Done || e.Worker != "a" || string(e.Result) != want || e.Token == 0 {
			t.Errorf("%+v, result %q; want %q", e, e.Result, want)
		}
	}
	bad := run("bad")
	bad.Order = []byte("bad")
	if e := ended(t, submit(t, q, bad)); e.State != Refused || string(e.Result) != "a bad order" {
		t.Errorf("%+v", e)
	}
	empty(t, q)
	mu.Lock()
	defer mu.Unlock()
	if got[Done] != 5 || got[Refused] != 1 || got[Lost] != 0 {
		t.Errorf("counted %v", got)
	}
}

// The same id is the same run: it is done once, and whoever asks again is told that it has ended.
func TestSameID(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	var mu sync.Mutex
	did := 0
	runs(t, worker(t, n, dir, "a", 2, quick, func(context.Context, string, string) string { mu.Lock(); defer mu.Unlock(); did++; return "" }).Serve)
	first, second := submit(t, q, run("x")), submit(t, q, run("x"))
	if a, b := ended(t, first), ended(t, second); a.State != Done || b.State != Done {
		t.Errorf("%+v, %+v", a, b)
	}
	empty(t, q)
	if _, err := submit(t, q, run("x")).Wait(t.Context()); !errors.Is(err, ErrResultGone) {
		t.Errorf("later: %v", err)
	}
	if did != 1 {
		t.Errorf("done %d times", did)
	}
}

// Where the queue brings a run again whose result is forgotten, that is not taken for a result.
func TestForgotten(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	runs(t, worker(t, n, dir, "a", 2, quick, func(context.Context, string, string) string { return "did" }).Serve)
	ended(t, submit(t, q, run("x")))
	empty(t, q)
	sub, err := n.Conn().SubscribeSync("end.x")
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg("run." + subject.Token(""))
	m.Header.Set(headRun, "x")
	m.Header.Set(headUntil, time.Now().Add(time.Minute).Format(time.RFC3339Nano))
	if _, err := q.js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if e, err := (&Ticket{q: q, run: "x", ends: sub}).Wait(t.Context()); !errors.Is(err, ErrResultGone) {
		t.Errorf("%+v, %v", e, err)
	}
	empty(t, q)
}

// What cannot be a run is refused before it is queued.
func TestSubmitRefuses(t *testing.T) {
	n, _ := start(t)
	q := queue(t, n, nil)
	for want, edit := range map[string]func(*Run){
		"no id":            func(r *Run) { r.ID = "a.b" },
		"name of the tena": func(r *Run) { r.Tenant = strings.Repeat("x", 129) },
		"deadline":         func(r *Run) { r.Until = time.Now() },
		"within 1h":        func(r *Run) { r.Until = time.Now().Add(2 * time.Hour) },
		"more than 1048":   func(r *Run) { r.Order = make([]byte, MaxOrder+1) },
	} {
		r := run("x")
		if edit(r); true {
			if _, err := q.Submit(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
		}
	}
}

// A worker that is gone loses its run, which says so. It is done again only where the caller allowed that. What the worker reports
// later changes nothing.
func TestLost(t *testing.T) {
	for _, repeat := range []bool{false, true} {
		n, dir := start(t)
		q := queue(t, n, &Options{Beat: quick})
		runs(t, q.Dispatcher(plain).Serve)
		begun, goOn := make(chan bool, 1), make(chan bool)
		gone := worker(t, n, dir, "gone", 5, quick, func(context.Context, string, string) string { begun <- true; <-goOn; return "late" })
		stop := runs(t, gone.Serve)
		r := run("x")
		r.Repeat = repeat
		ticket := submit(t, q, r)
		<-begun
		gone.Conn.Close() // as if its machine had gone
		if repeat {
			runs(t, worker(t, n, dir, "b", 1, quick, func(context.Context, string, string) string { return "again" }).Serve)
		}
		e := ended(t, ticket)
		if repeat && (e.State != Done || string(e.Result) != "again") || !repeat && e.State != Lost {
			t.Errorf("repeat %v: %+v %q", repeat, e, e.Result)
		}
		close(goOn)
		stop()
		empty(t, q)
	}
}

// A worker that was started again does not know the run: it may have run. One that never had it never will, and another one does it.
func TestUnknown(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	w := worker(t, n, dir, "a", 1, quick, func(context.Context, string, string) string { return "did" })
	runs(t, w.Serve)
	for range 100 { // until it hears
		if w.Conn.NumSubscriptions() == 3 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.Conn.Flush()
	for id, start := range map[string]string{"other-start": "another", "never-had": w.Start} {
		if _, err := q.swap(t.Context(), id, claim{State: Running, Worker: "a", Start: start}, 0); err != nil { // of a dispatcher that died
			t.Fatal(err)
		}
	}
	lost, done := submit(t, q, run("other-start")), submit(t, q, run("never-had"))
	runs(t, q.Dispatcher(plain).Serve)
	if e := ended(t, lost); e.State != Lost {
		t.Errorf("%+v", e)
	}
	if e := ended(t, done); e.State != Done || string(e.Result) != "did" {
		t.Errorf("%+v", e)
	}
}

// A run that is under way when its dispatcher dies is followed by the next one, and done once: also where every worker has enough to do, and
// another run of the tenant waits for a place.
func TestDispatcherDies(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	stop := runs(t, q.Dispatcher(plain).Serve)
	begun, goOn := make(chan bool, 3), make(chan bool)
	runs(t, worker(t, n, dir, "a", 1, quick, func(ctx context.Context, _, _ string) string {
		begun <- true
		select {
		case <-goOn:
			return "did"
		case <-ctx.Done():
			return "killed"
		}
	}).Serve)
	first := submit(t, q, run("x"))
	<-begun
	second := submit(t, q, run("y"))
	stop()
	runs(t, queue(t, n, &Options{Beat: quick}).Dispatcher(plain).Serve)
	time.Sleep((orphan + lease) * quick) // nobody would have asked about it for too long
	close(goOn)
	for _, ticket := range []*Ticket{first, second} {
		if e := ended(t, ticket); e.State != Done || string(e.Result) != "did" {
			t.Errorf("%+v %q", e, e.Result)
		}
	}
	empty(t, q)
	if len(begun) != 1 {
		t.Errorf("%d runs began after the first", len(begun))
	}
}

// A worker ends a run that no dispatcher asks about.
func TestOrphan(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	stop := runs(t, q.Dispatcher(plain).Serve)
	begun, ends := make(chan bool, 1), make(chan error, 1)
	runs(t, worker(t, n, dir, "a", 1, quick, func(ctx context.Context, _, _ string) string {
		begun <- true
		<-ctx.Done()
		ends <- ctx.Err()
		return ""
	}).Serve)
	submit(t, q, run("x"))
	<-begun
	stop()
	select {
	case err := <-ends:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it goes on")
	}
}

// A run that waits can be taken back, and one that is under way is told to end. A deadline holds in the queue and at the worker.
func TestCancel(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, nil)
	waits := submit(t, q, run("waits"))
	late := run("late")
	late.Until = time.Now().Add(100 * time.Millisecond)
	tooLate := submit(t, q, late)
	if err := q.Cancel(t.Context(), "waits"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	d, all := q.Dispatcher(plain), make(chan string, 9)
	d.Ended = func(r *RunView) { all <- r.ID + " " + string(r.State) }
	runs(t, d.Serve)
	begun := make(chan string, 3)
	runs(t, worker(t, n, dir, "a", 3, beat, func(ctx context.Context, run, _ string) string {
		begun <- run
		<-ctx.Done()
		return ctx.Err().Error()
	}).Serve)
	if e := ended(t, waits); e.State != Cancelled {
		t.Errorf("%+v", e)
	}
	if e := ended(t, tooLate); e.State != Late {
		t.Errorf("%+v", e)
	}
	if got := []string{<-all, <-all}; !slices.Contains(got, "waits cancelled") || !slices.Contains(got, "late late") {
		t.Errorf("counted: %q", got)
	}
	under := submit(t, q, run("under-way"))
	if got := <-begun; got != "under-way" {
		t.Errorf("%s began", got)
	}
	if err := q.Cancel(t.Context(), "under-way"); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, under); e.State != Done || string(e.Result) != "context canceled" {
		t.Errorf("%+v %q", e, e.Result)
	}
	short := run("short")
	short.Until = time.Now().Add(time.Second)
	if e := ended(t, submit(t, q, short)); e.State != Done || string(e.Result) != "context deadline exceeded" {
		t.Errorf("%+v %q", e, e.Result)
	}
	empty(t, q)
}

// A tenant that has too many runs waiting is told so; another one is not. A queue that is full leaves room for the ends of what is under way.
func TestQuotaAndFull(t *testing.T) {
	dir := t.TempDir()
	n, err := node.Open(t.Context(), &node.Options{Dir: dir, Disk: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	q := queue(t, n, &Options{Quota: 3, QueueBytes: 1 << 20, ClaimBytes: 1 << 20})
	runs(t, q.Dispatcher(plain).Serve)
	begun, goOn := make(chan bool, 9), make(chan bool)
	runs(t, worker(t, n, dir, "a", 1, beat, func(context.Context, string, string) string { begun <- true; <-goOn; return "did" }).Serve)
	underWay := submit(t, q, &Run{ID: "a0", Tenant: "A", Until: time.Now().Add(time.Minute)})
	<-begun
	tickets := []*Ticket{underWay}
	for i := range 2 {
		tickets = append(tickets, submit(t, q, &Run{ID: fmt.Sprintf("a%d", i+1), Tenant: "A", Until: time.Now().Add(time.Minute)}))
	}
	if _, err := q.Submit(t.Context(), &Run{ID: "a3", Tenant: "A", Until: time.Now().Add(time.Minute)}); !errors.Is(err, ErrQuota) {
		t.Errorf("%v, want the quota", err)
	}
	for i := 0; err == nil && i < 20; i++ {
		var ticket *Ticket
		ticket, err = q.Submit(t.Context(), &Run{ID: fmt.Sprintf("b%d", i), Tenant: fmt.Sprintf("B.>* %d", i), Until: time.Now().Add(time.Minute), Order: make([]byte, 300_000)})
		if err == nil {
			defer ticket.Close()
			tickets = append(tickets, ticket)
		}
	}
	if !errors.Is(err, ErrFull) || len(tickets) < 5 {
		t.Fatalf("%v after %d, want a full queue", err, len(tickets))
	}
	close(goOn)
	for _, ticket := range tickets {
		if e := ended(t, ticket); e.State != Done {
			t.Errorf("%+v", e)
		}
	}
	empty(t, q)
}

// A tenant with many runs does not keep another one waiting: they take turns.
func TestTurns(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, nil)
	for i := range 40 {
		submit(t, q, &Run{ID: fmt.Sprintf("a%d", i), Tenant: "A", Until: time.Now().Add(time.Minute)})
	}
	var b []*Ticket
	for i := range 5 {
		b = append(b, submit(t, q, &Run{ID: fmt.Sprintf("b%d", i), Tenant: "B", Until: time.Now().Add(time.Minute)}))
	}
	var mu sync.Mutex
	var order []string
	runs(t, worker(t, n, dir, "a", 1, beat, func(_ context.Context, run, _ string) string {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, run)
		return ""
	}).Serve)
	runs(t, q.Dispatcher(plain).Serve)
	for _, ticket := range b {
		ended(t, ticket)
	}
	empty(t, q)
	mu.Lock()
	defer mu.Unlock()
	if at := slices.Index(order, "b4"); at > 15 {
		t.Errorf("the fifth run of B was the %dth of all: %v", at+1, order)
	}
}

// Orders that are replayed, late, or for an attempt that was said not to begin do nothing.
func TestWorkerRefuses(t *testing.T) {
	n, dir := start(t)
	did := make(chan string, 10)
	w := worker(t, n, dir, "a", 5, beat, func(_ context.Context, run, _ string) string { did <- run; return "r" })
	runs(t, w.Serve)
	d := queue(t, n, nil).Dispatcher(plain)
	ask := func(what, run string, token uint64, until time.Duration) State {
		f := &follower{d: d, r: &Run{ID: run, Until: time.Now().Add(until)}, c: &claim{Start: w.Start}, rev: token}
		for range 50 {
			if m, _ := d.ask(t.Context(), "a", what, f.head(), []byte("order")); m != nil {
				state, _ := f.answer(m)
				return state
			}
		}
		return "silent"
	}
	for _, step := range []struct {
		what, run string
		token     uint64
		until     time.Duration
		want      State
	}{
		{"run", "x", 5, time.Minute, Running},
		{"run", "y", 7, -time.Second, Refused},          // late
		{"run", "w", 7, Longest + time.Minute, Refused}, // it would be forgotten before it is late
		{"ask", "z", 9, time.Minute, unknown},
		{"run", "z", 9, time.Minute, unknown}, // it was said not to begin
		{"run", "z", 8, time.Minute, unknown},
		{"run", "z", 10, time.Minute, Running}, // another attempt
		{"run", "y", 7, time.Minute, Refused},
	} {
		if got := ask(step.what, step.run, step.token, step.until); got != step.want {
			t.Errorf("%+v: %s", step, got)
		}
	}
	for range 2 {
		<-did
	}
	for range 50 {
		if ask("ask", "x", 5, time.Minute) == Done {
			break
		}
	}
	if got := ask("run", "x", 6, time.Minute); got != Done || len(did) != 0 { // replayed
		t.Errorf("%s, %d", got, len(did))
	}
	if m := nats.NewMsg("to.a.run"); n.Conn().PublishMsg(m) != nil { // garbage ends nobody
		t.Error("not published")
	}
	if got := ask("ask", "x", 5, time.Minute); got != Done {
		t.Error(got)
	}
}

// A claim is written over the one that is known, by one writer alone. Who does not know whether its write came through finds out.
func TestClaim(t *testing.T) {
	n, _ := start(t)
	q := queue(t, n, nil)
	ctx := t.Context()
	first, err := q.swap(ctx, "x", claim{State: Running, Worker: "a"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := q.swap(ctx, "x", claim{State: Running, Worker: "b"}, first)
	if err != nil || second <= first {
		t.Fatal(second, err)
	}
	for name, over := range map[string]uint64{"nobody has it": 0, "an old attempt": first, "a token that never was": second + 9} {
		if _, err := q.swap(ctx, "x", claim{State: Done, Worker: "a"}, over); !errors.Is(err, errTaken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, rev, err := q.claim(ctx, "x")
	if err != nil || c.Worker != "b" || rev != second {
		t.Errorf("%+v, %d, %v", c, rev, err)
	}
	if s, err := q.claims.Status(ctx); err != nil || s.(*jetstream.KeyValueBucketStatus).StreamInfo().Config.AllowDirect {
		t.Error("another node than the leader answers reads, and may be behind", err)
	}
	if c, rev, err := q.claim(ctx, "y"); c != nil || rev != 0 || err != nil {
		t.Errorf("%+v, %d, %v", c, rev, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := q.swap(cancelled, "z", claim{State: Running}, 0); err == nil || errors.Is(err, errTaken) {
		t.Error(err)
	}
}
