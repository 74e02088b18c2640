package dispatch

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// When the claims of runs that have ended take most of their room, new runs are refused at once, and a run under way still ends.
func TestClaimsFull(t *testing.T) {
	n, dir := start(t)
	q := queue(t, n, &Options{Beat: quick, ClaimBytes: 128 << 10})
	runs(t, q.Dispatcher(plain).Serve)
	begun, goOn := patientWorker(t, n, dir)
	long := submit(t, q, run("long"))
	<-begun
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		var ticket *Ticket
		if ticket, err = q.Submit(t.Context(), run(fmt.Sprint("r", i))); err == nil {
			ended(t, ticket)
			ticket.Close()
			time.Sleep(quick / 40)
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Errorf("%v, want a full queue", err)
	}
	close(goOn)
	if e := ended(t, long); e.State != Done {
		t.Errorf("%+v", e)
	}
}
