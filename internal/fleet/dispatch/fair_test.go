package dispatch

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

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
