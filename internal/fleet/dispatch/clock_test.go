package dispatch

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// A worker whose clock is wrong takes no run, and others have it. If they all say that a deadline is not good it is the run that is wrong.
func TestClockOfWorker(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	wrong := worker(t, n, dir, "wrong", 9, quick, nil)
	var asked atomic.Int32
	if _, err := wrong.Conn.Subscribe("to.wrong.run", func(m *nats.Msg) {
		asked.Add(1)
		wrong.say(m, untimely, []byte("its deadline is over"))
	}); err != nil {
		t.Fatal(err)
	}
	d := q.Dispatcher(plain)
	runs(t, d.Serve)
	stop := runs(t, worker(t, n, dir, "right", 1, quick, func(_ context.Context, run, _ string) string { return run }).Serve)
	beats := time.NewTicker(quick)
	defer beats.Stop()
	go func() {
		for range beats.C {
			_ = wrong.beat()
		}
	}()
	knows := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.workers) == 2
	}
	for !knows() {
		time.Sleep(quick / 10)
	}
	for _, id := range []string{"one", "two", "three"} {
		if e := ended(t, submit(t, q, run(id))); e.State != Done || e.Worker != "right" {
			t.Errorf("%s: %+v", id, e)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the worker had %d runs", asked.Load())
	}
	v, err := Look(t.Context(), q.conn, 0)
	if err != nil || len(v.Workers) != 2 || !v.Workers[1].Clock || v.Workers[0].Clock {
		t.Errorf("%+v, %v", v, err)
	}
	stop()
	if e := ended(t, submit(t, q, run("four"))); e.State != Refused || !strings.Contains(string(e.Result), "its deadline is over") {
		t.Errorf("%+v", e)
	}
}

// A run whose deadline is not good by the clock of a worker does not begin there. It may with another attempt, and never with the same.
func TestUntimely(t *testing.T) {
	n, dir := start(t)
	w := worker(t, n, dir, "w", 1, beat, func(context.Context, string, string) string { return "" })
	runs(t, w.Serve)
	give := func(token string, left time.Duration) State {
		t.Helper()
		m := nats.NewMsg("to.w.run")
		m.Header.Set(headRun, "r")
		m.Header.Set(headToken, token)
		m.Header.Set(headUntil, time.Now().Add(left).Format(time.RFC3339Nano))
		for {
			a, err := n.Conn().RequestMsg(m, beat)
			if errors.Is(err, nats.ErrNoResponders) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			return State(a.Header.Get(headState))
		}
	}
	for i, want := range []State{untimely, untimely, unknown, Running} {
		token := []string{"1", "2", "2", "3"}[i]
		left := []time.Duration{-time.Second, Longest + time.Minute, time.Minute, time.Minute}[i]
		if got := give(token, left); got != want {
			t.Errorf("attempt %s with %s left: %q, not %q", token, left, got, want)
		}
	}
}
