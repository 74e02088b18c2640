package relay

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
)

// What the scripts of a skill keep in its home on a worker is there for its tenant, and for no other one with the same skill.
func TestHomesOfTenants(t *testing.T) {
	f := newFleet(t)
	f.patient(t)
	first, s := sample(t, probe.Tree{"scripts/a.sh": "cat $HOME/kept 2>/dev/null; echo kept > $HOME/kept; echo ran\n"})
	w, _ := f.worker(t, "w")
	w.Tenant = "" // it works for all
	runs(t, w.Serve)
	runs(t, f.Queue.Dispatcher((&Signer{Name: "d", Key: f.private}).Seal).Serve)
	for _, run := range []struct{ tenant, want string }{{"acme", "ran"}, {"umbrella", "ran"}, {"acme", "kept ran"}, {"", "ran"}, {"umbrella", "kept ran"}} {
		o := *first
		o.Run, o.For.Tenant = rand.Text(), run.tenant
		r, err := f.Send(t.Context(), &o, s, func(*order.Part) error { return nil })
		if err == nil {
			err = r.Failure.Err()
		}
		if err != nil {
			t.Fatal(run.tenant, err)
		}
		if got := strings.Join(strings.Fields(r.Output.Text), " "); got != run.want {
			t.Errorf("%q: %s", run.tenant, got)
		}
	}
}
