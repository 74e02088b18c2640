package dispatch

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// pods starts workers in this process.
type pods struct {
	fail   error        // of Start
	block  string       // what Why says
	never  bool         // the worker never comes
	over   bool         // and Why knows it
	start  func(string) // the worker of a name
	mu     sync.Mutex
	starts map[string]int
	stops  map[string]int
}

func (p *pods) Start(_ context.Context, r *Run, worker string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starts[r.ID]++
	if p.fail != nil {
		return p.fail
	}
	if !p.never && p.starts[r.ID] == 1 {
		p.start(worker)
	}
	return nil
}

func (p *pods) Stop(_ context.Context, run string) error {
	p.mu.Lock()
	p.stops[run]++
	p.mu.Unlock()
	return nil
}

func (p *pods) Why(context.Context, string) (string, bool, error) { return p.block, p.over, nil }

func (p *pods) stopped(run string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stops[run]
}

// Each run has a worker of its own, which gets nothing else and ends with it; a worker that is for no run gets none.
func TestAlone(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, nil)
	p := &pods{starts: map[string]int{}, stops: map[string]int{}}
	p.start = func(name string) {
		runs(t, worker(t, n, dir, name, 2, quick, func(_ context.Context, run, _ string) string {
			if name != workerOf(run) {
				t.Errorf("worker %s got %s", name, run)
			}
			return "by " + name
		}).Serve)
	}
	runs(t, worker(t, n, dir, "shared", 9, quick, func(_ context.Context, run, _ string) string {
		t.Errorf("the worker for all got %s", run)
		return ""
	}).Serve)
	for range 2 { // two dispatchers share the queue
		d := q.Dispatcher(plain)
		d.Alone = p
		runs(t, d.Serve)
	}
	for _, id := range []string{"one", "Two", "two"} {
		if e := ended(t, submit(t, q, run(id))); e.State != Done || string(e.Result) != "by "+workerOf(id) {
			t.Errorf("%s: %+v %q", id, e, e.Result)
		}
	}
	empty(t, q)
	for _, id := range []string{"one", "Two", "two"} {
		if p.stopped(id) == 0 {
			t.Errorf("the worker of %s goes on", id)
		}
	}
}

// A run whose worker does not come ends, and says why. It has not run.
func TestAloneNeverComes(t *testing.T) {
	for _, row := range []struct {
		name  string
		p     *pods
		start time.Duration
		want  string
	}{
		{"cannot be started", &pods{fail: errors.New("quota of pods")}, 3 * quick, "quota of pods"},
		{"does not begin", &pods{never: true, block: "ImagePullBackOff: no such image"}, 3 * quick, "ImagePullBackOff: no such image"},
		{"is silent", &pods{never: true}, 3 * quick, ""},
		{"has ended", &pods{never: true, block: "Error: no such command", over: true}, time.Hour, "Error: no such command"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n, _ := start(t)
			q := queue(t, n, &Options{Beat: quick})
			row.p.starts, row.p.stops = map[string]int{}, map[string]int{}
			d := q.Dispatcher(plain)
			d.Alone, d.Start = row.p, row.start
			runs(t, d.Serve)
			if e := ended(t, submit(t, q, run("one"))); e.State != Late || string(e.Result) != row.want {
				t.Errorf("%+v %q", e, e.Result)
			}
			empty(t, q)
			if row.p.stopped("one") == 0 {
				t.Error("what was started stays")
			}
			if row.p.fail != nil && row.p.starts["one"] < 2 {
				t.Error("it was tried once")
			}
		})
	}
}

// A run that is taken back while its worker starts does not begin, and the worker is ended.
func TestAloneCancel(t *testing.T) {
	n, _ := start(t)
	q := queue(t, n, &Options{Beat: quick})
	p := &pods{never: true, starts: map[string]int{}, stops: map[string]int{}}
	d := q.Dispatcher(plain)
	d.Alone = p
	runs(t, d.Serve)
	ticket := submit(t, q, run("one"))
	time.Sleep(2 * quick)
	if err := q.Cancel(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, ticket); e.State != Cancelled {
		t.Errorf("%+v", e)
	}
	empty(t, q)
	if p.stopped("one") == 0 {
		t.Error("its worker goes on")
	}
}

// A worker that dies with its run loses it, also where it may run twice: there is no second worker for it.
func TestAloneLost(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	p := &pods{starts: map[string]int{}, stops: map[string]int{}, block: "OOMKilled"}
	begun := make(chan *Worker, 1)
	p.start = func(name string) {
		var w *Worker
		w = worker(t, n, dir, name, 1, quick, func(ctx context.Context, _, _ string) string {
			begun <- w
			<-ctx.Done()
			return ""
		})
		runs(t, w.Serve)
	}
	d := q.Dispatcher(plain)
	d.Alone = p
	runs(t, d.Serve)
	r := run("one")
	r.Repeat = true
	ticket := submit(t, q, r)
	(<-begun).Conn.Close() // it is there no longer
	if e := ended(t, ticket); e.State != Lost || !strings.HasPrefix(e.Worker, "run-") || string(e.Result) != "OOMKilled" {
		t.Errorf("%+v", e)
	}
	empty(t, q)
}
