package worker

import (
	"io"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skilltool"
)

// C65: a conversation says once that scripts are not confined here.
func TestUnconfinedIsSaidOnce(t *testing.T) {
	w := &worker{s: app.New(&setup.System{Home: t.TempDir()}, &setup.Flags{}, &ui.Streams{Out: io.Discard, Err: io.Discard})}
	ran := func(tier string) agent.Step {
		r := skilltool.RunResult{Script: "x", Sandbox: runner.Sandbox{Tier: tier}}
		return agent.Step{Result: &agent.Result{Result: r.Envelope()}}
	}
	failed := agent.Step{Result: &agent.Result{Result: skilltool.Failure(&script.Error{Sandbox: &runner.Sandbox{Tier: "E"}})}}
	for i, c := range []struct {
		step agent.Step
		want string
	}{{agent.Step{Text: "x"}, ""}, {agent.Step{Result: &agent.Result{}}, ""}, {ran("A"), ""}, {failed, "no sandbox for them"}, {ran("C"), ""}} {
		if got := w.unconfined(c.step); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
}

// Where a rule that forbids cannot be read, the question says which, and no answer allows more than the one call: it would not hold.
func TestDoubtOffersNoMore(t *testing.T) {
	for _, deny := range []string{"", "Read("} {
		g := &gate{s: app.New(&setup.System{Home: t.TempDir()}, &setup.Flags{}, &ui.Streams{Out: io.Discard, Err: io.Discard})}
		o := &permit.Options{}
		if deny != "" {
			o.Deny = []permit.Rule{{Text: deny, Origin: "config.yaml:3"}}
		}
		g.policy, _ = permit.New(o)
		var keys string
		call := &permit.Call{Kind: permit.Edit, Path: "/a"}
		r := &hosttool.Request{Call: call, Path: "a", Decision: g.policy.Decide(call)}
		if q := question(r); strings.Contains(q.Text, "Read( (config.yaml:3)") != (deny != "") {
			t.Errorf("deny %q: got the question %q", deny, q.Text)
		}
		for _, c := range g.choices(r, false) {
			keys += c.Key
		}
		if want := map[string]string{"": "ycn", "Read(": "yn"}[deny]; keys != want {
			t.Errorf("deny %q: got the answers %q, want %q", deny, keys, want)
		}
	}
}
