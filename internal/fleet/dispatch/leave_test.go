package dispatch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// A worker that is told to end ends its runs, and how they ended is known: none of them is lost. Its name then has another key.
func TestLeave(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	begun := make(chan bool, 2)
	w := worker(t, n, dir, "a", 2, quick, func(ctx context.Context, _, _ string) string {
		begun <- true
		<-ctx.Done()
		time.Sleep(2 * quick) // it has something to clean up
		return "ended"
	})
	stop := runs(t, w.Serve)
	tickets := []*Ticket{submit(t, q, run("x")), submit(t, q, run("y"))}
	<-begun
	<-begun
	stop()
	for _, ticket := range tickets {
		if e := ended(t, ticket); e.State != Done || string(e.Result) != "ended" {
			t.Errorf("%+v, result %q", e, e.Result)
		}
	}
	w.Conn.Close()
	first, err := n.Admit("b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Admit("b"); err != nil {
		t.Fatal(err)
	}
	if c, err := node.Dial(dir, first); err == nil {
		c.Close()
		t.Error("the former key of a worker comes in")
	}
}

// A run that is handed to a worker that has just died is not lost, because nobody has got it: it waits for the next one.
func TestHandedToNobody(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: time.Second})
	runs(t, q.Dispatcher(plain).Serve)
	did := func(_ context.Context, _, order string) string { return order }
	first := worker(t, n, dir, "a", 9, time.Second, did)
	runs(t, first.Serve)
	if e := ended(t, submit(t, q, run("x"))); e.Worker != "a" {
		t.Fatalf("%+v", e)
	}
	gone(t, n, first)
	ticket := submit(t, q, run("y"))
	runs(t, worker(t, n, dir, "b", 1, time.Second, did).Serve)
	if e := ended(t, ticket); e.State != Done || e.Worker != "b" {
		t.Errorf("%+v", e)
	}
}

// gone closes the connection of a worker and waits until the node knows.
func gone(t *testing.T, n *node.Node, w *Worker) {
	t.Helper()
	w.Conn.Close()
	for range 1000 {
		if _, err := n.Conn().Request("to."+w.Name+".run", nil, 10*time.Millisecond); errors.Is(err, nats.ErrNoResponders) {
			return
		}
	}
	t.Fatal("the node keeps the worker")
}

// A second worker that was given the name of another one answers for it. Its answers end no run and give none to a third one, for the
// first may have begun it.
func TestSameName(t *testing.T) {
	for _, says := range []State{full, Refused, Done} {
		n, dir := start(t)
		q := queue(t, n, &Options{Beat: quick})
		handed, once := make(chan bool), sync.Once{}
		for _, what := range []string{"run", "ask"} {
			if _, err := n.Conn().Subscribe("to.a."+what, func(m *nats.Msg) {
				a := nats.NewMsg(m.Reply)
				a.Header.Set(headState, string(says))
				a.Header.Set(headStart, "start of another a")
				_ = m.RespondMsg(a)
				once.Do(func() { close(handed) })
			}); err != nil {
				t.Fatal(err)
			}
		}
		runs(t, q.Dispatcher(plain).Serve)
		ticket := submit(t, q, run("x"))
		m := nats.NewMsg("from.a.beat")
		m.Header.Set(headStart, "start of a")
		m.Header.Set(headFree, "1")
		m.Header.Set(headPlaces, "1")
		for waits := true; waits; {
			_ = n.Conn().PublishMsg(m)
			select {
			case <-handed:
				waits = false
			case <-time.After(quick):
			}
		}
		runs(t, worker(t, n, dir, "b", 1, quick, func(context.Context, string, string) string { return "" }).Serve)
		if e := ended(t, ticket); e.State != Lost || e.Worker != "a" {
			t.Errorf("%s: %+v", says, e)
		}
	}
}

// A run that was handed to a dead worker does not wait for ever: it ends at its deadline, or when it is taken back.
func TestHandedToNobodyEnds(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: time.Second})
	runs(t, q.Dispatcher(plain).Serve)
	w := worker(t, n, dir, "a", 9, time.Second, func(_ context.Context, _, order string) string { return order })
	runs(t, w.Serve)
	if e := ended(t, submit(t, q, run("x"))); e.State != Done {
		t.Fatalf("%+v", e)
	}
	gone(t, n, w)
	late, back := run("late"), submit(t, q, run("back"))
	late.Until = time.Now().Add(2 * time.Second)
	if e := ended(t, submit(t, q, late)); e.State != Late {
		t.Errorf("%+v", e)
	}
	if err := q.Cancel(t.Context(), "back"); err != nil {
		t.Fatal(err)
	}
	if e := ended(t, back); e.State != Cancelled {
		t.Errorf("%+v", e)
	}
}

// A run for which there is no worker ends with its deadline.
func TestNoWorker(t *testing.T) {
	n, _ := start(t)
	q := queue(t, n, &Options{Beat: quick})
	runs(t, q.Dispatcher(plain).Serve)
	late := run("late")
	late.Until = time.Now().Add(time.Second)
	if e := ended(t, submit(t, q, late)); e.State != Late {
		t.Errorf("%+v", e)
	}
}
