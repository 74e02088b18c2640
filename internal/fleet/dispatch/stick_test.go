package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Runs that stick together are done by one worker as long as it lives, whichever dispatcher hands them over, and by another one after that.
// They wait for it, and other runs do not.
func TestStick(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	stops := map[string]func(){}
	block, begun := make(chan bool), make(chan bool, 8)
	for _, name := range []string{"a", "b"} {
		w := worker(t, n, dir, name, 2, quick, func(ctx context.Context, run, _ string) string {
			if strings.HasPrefix(run, "block") {
				begun <- true
				select {
				case <-block:
				case <-ctx.Done():
				}
			}
			return name
		})
		stops[name] = runs(t, w.Serve)
	}
	for range 2 {
		runs(t, q.Dispatcher(plain).Serve)
	}
	end := func(id, stick string) (string, *Ticket) {
		r := run(id)
		r.Stick = stick
		ticket := submit(t, q, r)
		if strings.HasPrefix(id, "block") {
			return "", ticket
		}
		e, err := ticket.Wait(t.Context())
		if err != nil || e.State != Done {
			t.Fatal(id, e, err)
		}
		return e.Worker, nil
	}
	first, _ := end("one", "s")
	for i := range 6 {
		if at, _ := end(fmt.Sprint("s-", i), "s"); at != first {
			t.Errorf("run %d is at %s, the first at %s", i, at, first)
		}
	}
	var tickets []*Ticket
	for i := range 2 { // fills the worker
		_, ticket := end(fmt.Sprint("block-", i), "s")
		tickets = append(tickets, ticket)
	}
	<-begun
	<-begun
	_, waits := end("block-more", "s")
	for i := range 3 { // goes past what waits
		if at, _ := end(fmt.Sprint("free-", i), ""); at == first {
			t.Errorf("the full worker %s has run %d", first, i)
		}
	}
	if len(begun) > 0 {
		t.Error("what sticks to a full worker is at another one")
	}
	close(block)
	for _, ticket := range append(tickets, waits) {
		if e, err := ticket.Wait(t.Context()); err != nil || e.Worker != first || e.State != Done {
			t.Errorf("%+v, %v", e, err)
		}
	}
	stops[first]()
	next, _ := end("after", "s")
	if again, _ := end("after-2", "s"); next == first || again != next {
		t.Errorf("after the end of %s: %s, %s", first, next, again)
	}
	r := run("x")
	r.Stick = "a b"
	if _, err := q.Submit(t.Context(), r); err == nil {
		t.Error("a name with a space")
	}
}

// Runs that wait for one worker do not keep others of their tenant waiting, also where there is one dispatcher.
func TestStickLetsOthersPass(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	end := make(chan bool)
	for _, name := range []string{"a", "b"} {
		runs(t, worker(t, n, dir, name, 1, quick, func(_ context.Context, run, _ string) string {
			if run != "free" {
				<-end
			}
			return ""
		}).Serve)
	}
	runs(t, q.Dispatcher(plain).Serve)
	var tickets []*Ticket
	for i := range 4 {
		r := run(fmt.Sprint("r", i))
		r.Home = "h"
		tickets = append(tickets, submit(t, q, r))
	}
	ended(t, submit(t, q, run("free")))
	close(end)
	for _, ticket := range tickets {
		if e := ended(t, ticket); e.State != Done {
			t.Errorf("%+v", e)
		}
	}
}

// Runs with a home are done by one worker for all dispatchers, which homes share out. They come to another one while it is away, and then back.
func TestHome(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick})
	stops := map[string]func(){}
	serve := func(name string) {
		w := worker(t, n, dir, name, 1, quick, func(context.Context, string, string) string { return name })
		stops[name] = runs(t, w.Serve)
	}
	for _, name := range []string{"a", "b", "c"} {
		serve(name)
	}
	for range 2 {
		runs(t, q.Dispatcher(plain).Serve)
	}
	runs := 0
	at := func(stick string) string {
		runs++
		r := run(fmt.Sprint("run-", runs))
		r.Home = stick
		e, err := submit(t, q, r).Wait(t.Context())
		if err != nil || e.State != Done {
			t.Fatal(e, err)
		}
		return e.Worker
	}
	first, used := map[string]string{}, map[string]bool{}
	for round := range 3 {
		for i := range 16 {
			stick := fmt.Sprint("s", i)
			got := at(stick)
			if used[got] = true; round == 0 {
				first[stick] = got
			}
			if got != first[stick] {
				t.Errorf("%s is at %s, then at %s", stick, first[stick], got)
			}
		}
	}
	if len(used) != 3 {
		t.Errorf("%v share sixteen names out", used)
	}
	stops[first["s0"]]()
	if got := at("s0"); got == first["s0"] {
		t.Error("a worker that is gone has a run")
	}
	serve(first["s0"])
	for end := time.Now().Add(20 * time.Second); at("s0") != first["s0"]; {
		if time.Now().After(end) {
			t.Fatal("it does not come back")
		}
	}
}

// A name chooses no worker that leaves, and none before all have been heard.
func TestHomeIsThere(t *testing.T) {
	d := (&Queue{o: Options{Beat: beat}}).Dispatcher(plain)
	for _, name := range []string{"a", "b", "c"} {
		d.beat(says(&Worker{Name: name}, "1", 0))
	}
	first := d.home("s")
	first.Draining = true
	if next := d.home("s"); next == nil || next == first {
		t.Errorf("%+v, then %+v", first, next)
	}
	first.Draining = false
	if d.home("s") != first {
		t.Error("it does not come back")
	}
	if d.began = time.Now(); d.home("s") != nil {
		t.Error("a dispatcher that has just begun chooses")
	}
}

// busy counts how often a claim is read, without an answer.
type busy struct {
	jetstream.KeyValue
	reads int
}

func (b *busy) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	b.reads++
	return nil, nats.ErrTimeout
}

// Of many held runs for one worker, one asks who that is.
func TestHeldTogether(t *testing.T) {
	claims := &busy{}
	d := (&Queue{o: Options{Beat: beat}, claims: claims}).Dispatcher(plain)
	d.beat(says(&Worker{Name: "a"}, "1", 0))
	d.kept = time.Now()
	for i, stick := range []string{"s", "s", "r", "s", "r"} {
		h := nats.Header{}
		h.Set(headRun, fmt.Sprint("run-", i))
		h.Set(headUntil, time.Now().Add(time.Minute).Format(time.RFC3339Nano))
		h.Set(headStick, stick)
		m := of{subject: "run.t", headers: h}
		d.held = append(d.held, held{m.subject, m, time.Now(), oneWorker(m)})
	}
	var all sync.WaitGroup
	d.place(t.Context(), &all)
	if claims.reads != 2 || len(d.held) != 5 {
		t.Errorf("%d reads, %d runs are held", claims.reads, len(d.held))
	}
}
