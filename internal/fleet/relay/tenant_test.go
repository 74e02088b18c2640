package relay

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// What a skill leaves on a worker for one tenant is there for that tenant, and for no other one with the same content, script and names: what
// it keeps, where it is, and what it is given.
func TestTenantsApart(t *testing.T) {
	f := newFleet(t)
	first, s := sample(t, probe.Tree{"scripts/a.sh": `
case $1 in
home) at=$HOME/left ;;
temporary) at=$TMPDIR/left ;;
variable) echo ${A_TOKEN#value-}; exit ;;
esac
cat $at 2>/dev/null || echo none
echo $2 >$at
`})
	first.Grant.Given = want.New(want.VariableOf("A_TOKEN"))
	w, _ := f.worker(t, "w")
	w.Tenant = "" // it works for all
	host := w.Host
	w.Host = func(tenant string) (*script.Options, error) {
		o, err := host(tenant)
		o.KeepTemp = 1 << 40
		return o, err
	}
	runs(t, w.Serve)
	runs(t, f.Queue.Dispatcher((&Signer{Name: "d", Key: f.private, Conn: f.Conn}).Seal).Serve)
	run := func(tenant string, args ...string) string {
		t.Helper()
		o, c := *first, *f.Caller
		o.Run, o.For.Tenant, o.Args = rand.Text(), tenant, args
		if tenant == "acme" {
			c.Variables = environ("A_TOKEN=value-of-acme")
		}
		r, err := c.Send(t.Context(), &o, s, nil)
		if err == nil {
			err = r.Failure.Err()
		}
		if err != nil {
			t.Fatal(tenant, err)
		}
		return strings.TrimSpace(r.Output.Text)
	}
	for what, own := range map[string]string{"home": "of-acme", "temporary": "of-acme", "variable": "of-acme"} {
		run("acme", what, "of-acme")
		for _, other := range []string{"umbrella", "", "acme2", "ACME"} {
			if got := run(other, what, "of-other"); got != "" && got != "none" {
				t.Errorf("%s: %q gets %q", what, other, got)
			}
		}
		if got := run("acme", what, "of-acme"); got != own {
			t.Errorf("%s: acme gets %q", what, got)
		}
	}
	forged := *first
	forged.Run, forged.For.Tenant = rand.Text(), "acme"
	text, err := forged.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Signer{Name: "d", Key: f.private}).Seal(t.Context(), &dispatch.Run{ID: forged.Run, Tenant: "umbrella", Order: text}, &dispatch.To{Worker: "w", Start: "s", Token: 1}); err == nil {
		t.Error("an order of acme is signed for a run of umbrella")
	}
}

// A session is of its tenant: another one that gives it the same name has another process.
func TestSessionsOfTenants(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("Python is not installed: ", err)
	}
	f := newFleet(t)
	_, s := sample(t, probe.Tree{"SKILL.md": probe.Start + "toolsets: [a:A]\n---\nbody\n",
		"a.py": "from agent_base import AgentToolset\nclass A(AgentToolset):\n    n = 0\n    def add(self) -> str:\n        A.n += 1\n        return f\"call {A.n}\"\n"})
	w, _ := f.worker(t, "w")
	w.Tenant = ""
	runs(t, w.Serve)
	runs(t, f.Queue.Dispatcher((&Signer{Name: "d", Key: f.private}).Seal).Serve)
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	for n, tenant := range []string{"acme", "acme", "umbrella", "acme"} {
		sender := order.NewSender(&order.SenderOptions{Host: host, Send: func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
			o.For.Tenant = tenant
			return f.Send(ctx, o, s, out)
		}})
		list, err := sender.Toolsets("session", nil).Tools(t.Context(), s, nil)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		r := list[0].Call(t.Context(), json.RawMessage(`{}`))
		raw, _ := r.Result.(json.RawMessage)
		if got, want := string(raw), fmt.Sprintf(`"call %d"`, []int{1, 2, 1, 3}[n]); got != want {
			t.Errorf("call %d, of %s: %s %s", n, tenant, got, r.Message)
		}
	}
}
