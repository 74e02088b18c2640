package dispatch

import (
	"context"
	"fmt"
	"strings"
	"testing"
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
