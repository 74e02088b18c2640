package dispatch

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The claims of runs that have left the queue are removed. That of a run under way stays, with all that were written after it, and so does
// what ties a session to its worker.
func TestPurge(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	d := q.Dispatcher(plain)
	runs(t, d.Serve)
	begun, goOn := patientWorker(t, n, dir)
	end := sync.OnceFunc(func() { close(goOn) })
	defer end()
	do := func(ids ...string) {
		for _, id := range ids {
			r := run(id)
			r.Stick = "s"
			ticket := submit(t, q, r)
			ended(t, ticket)
			ticket.Close()
		}
	}
	has := func(id string) bool {
		c, _, err := q.claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c != nil
	}
	go d.purge(t.Context(), 200*time.Millisecond)
	do("r1", "r2")
	until(t, "claims stay", func() bool { return !has("r1") && !has("r2") })
	long := submit(t, q, run("long"))
	<-begun
	do("r3")
	time.Sleep(600 * time.Millisecond)
	if !has("long") || !has("r3") || !has(stickKey("s")) {
		t.Error("what is under way has no claim any more, or what came after it, or a session its worker")
	}
	end()
	if e := ended(t, long); e.State != Done {
		t.Errorf("%+v", e)
	}
	until(t, "the others stay", func() bool { return !has("long") && !has("r3") })
}

// A dispatcher that was stopped while it had a run begins it only if the queue still has it.
func TestStoppedForLong(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	d := q.Dispatcher(plain)
	done := make(chan string, 8)
	runs(t, worker(t, n, dir, "a", 8, quick, func(_ context.Context, run, _ string) string { done <- run; return "did" }).Serve)
	sub, err := q.conn.Subscribe("from.*.beat", d.beat)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	until(t, "no worker comes", d.room)
	for i, left := range []bool{true, false} {
		id := fmt.Sprint("r", i)
		submit(t, q, run(id))
		var m jetstream.Msg
		until(t, "the queue is empty", func() bool { _, m, err = d.next(t.Context()); return m != nil })
		if left { // another one has ended it, and its claim is gone
			if err := m.DoubleAck(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f := &follower{d: d, m: m, r: run(id), to: d.pick(run(id)), taken: time.Now().Add(-unsure)}
		if f.give(t.Context()) == left {
			t.Errorf("it left the queue: %v, and begins: %v", left, !left)
		}
		c, _, err := q.claim(t.Context(), id)
		if err != nil || (c == nil) != left {
			t.Errorf("%+v, %v", c, err)
		}
	}
	if got := <-done; got != "r1" || len(done) > 0 {
		t.Errorf("%s was done", got)
	}
}
