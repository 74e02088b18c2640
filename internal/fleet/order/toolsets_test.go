package order_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/trace"
)

const counter = `import sys, time
from agent_base import AgentToolset
class Counter(AgentToolset):
    n = 0
    def add(self, by: int) -> dict:
        """Adds to what was added before."""
        Counter.n += by
        return {"n": Counter.n}
    def say(self) -> str:
        """Writes something."""
        print("adding", file=sys.stderr, flush=True)
        time.sleep(0.3)  # its line comes by another pipe than its answer
        return ""
    def key(self) -> str:
        """Says what it has."""
        import os
        return os.environ.get("A_TOKEN", "")
    def fail(self) -> str:
        """Fails."""
        raise ValueError("broken on purpose")
`

func newToolPair(t *testing.T, more string) *pair {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("Python is not installed: ", err)
	}
	p := newPair(t, map[string]string{"SKILL.md": probe.Start + "permissions:\n  env: [A_TOKEN]\ntoolsets: [counter:Counter" + more + "]\n---\nbody\n", "counter.py": counter, "none.py": "raise ImportError('not here')\n"})
	key, err := order.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	p.worker.Key = key
	p.change = func(o *order.Order) {
		if err := o.Seal(key.Public(), []string{"A_TOKEN=of the tenant"}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(p.worker.Close)
	return p
}

func named(t *testing.T, list []tool.Tool, name string) tool.Tool {
	t.Helper()
	i := slices.IndexFunc(list, func(tl tool.Tool) bool { return tl.Name == name })
	if i < 0 {
		t.Fatalf("no tool %s among %d", name, len(list))
	}
	return list[i]
}

func value(t *testing.T, r tool.Result) string {
	t.Helper()
	b, err := json.Marshal(r.Result)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The tools of toolsets on another machine are those of toolsets here, and remember from call to call what they do here: for one session.
func TestToolsets(t *testing.T) {
	p := newToolPair(t, "")
	here := p.Toolsets("one", nil)
	if _, ok := here.Known(t.Context(), p.s, nil); ok {
		t.Error("tools are known before they were listed")
	}
	list, err := here.Tools(t.Context(), p.s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if known, ok := here.Known(t.Context(), p.s, nil); !ok || len(known) != len(list) {
		t.Errorf("known are %d", len(known))
	}
	var names []string
	for _, tl := range list {
		names = append(names, tl.Source+" "+tl.Name+" "+tl.Description)
	}
	if got := strings.Join(names, "; "); got != "probe.Counter add Adds to what was added before.; probe.Counter say Writes something.; probe.Counter key Says what it has.; probe.Counter fail Fails." {
		t.Errorf("tools %s", got)
	}
	if p.sent.Session != "one" || !strings.Contains(string(named(t, list, "add").Input), `"by"`) {
		t.Errorf("sent %+v", p.sent)
	}
	var said strings.Builder
	watched := tool.WithWatch(t.Context(), func(e tool.Event) { said.WriteString(string(e.Kind) + " " + e.Text) })
	add := func(ctx context.Context, list []tool.Tool, want string) {
		t.Helper()
		if r := named(t, list, "add").Call(ctx, json.RawMessage(`{"by":2}`)); !r.Success || value(t, r) != want {
			t.Errorf("%s, %s, want %s", value(t, r), r.Message, want)
		}
	}
	add(t.Context(), list, `{"n":2}`)
	add(watched, list, `{"n":4}`)
	if r := named(t, list, "say").Call(watched, json.RawMessage(`{}`)); !r.Success {
		t.Errorf("%+v", r)
	}
	if said.String() != "output adding\n" {
		t.Errorf("watched %q", said.String())
	}
	if r := named(t, list, "key").Call(t.Context(), json.RawMessage(`{}`)); !r.Success || value(t, r) != `"[redacted A_TOKEN]"` {
		t.Errorf("%+v", r)
	}
	if r := named(t, list, "fail").Call(t.Context(), json.RawMessage(`{}`)); r.Success || r.Error != tool.ExecutionFailed || !strings.Contains(r.Message, "broken on purpose") {
		t.Errorf("%+v", r)
	}
	one, err := here.ToolsOf(t.Context(), p.s, nil, "Counter")
	if err != nil || len(one) != 4 {
		t.Errorf("%d tools, %v", len(one), err)
	}
	add(t.Context(), one, `{"n":6}`)
	other, _ := p.Toolsets("two", nil).Tools(t.Context(), p.s, nil)
	add(t.Context(), other, `{"n":2}`)
	ctx := trace.WithIdentity(t.Context(), trace.Identity{Tenant: "acme"})
	foreign, _ := p.Toolsets("one", nil).Tools(ctx, p.s, nil)
	add(ctx, foreign, `{"n":2}`)
	add(t.Context(), list, `{"n":8}`)
	var kinds []string
	for _, e := range p.events {
		if e.Kind == trace.ToolsetCalled {
			kinds = append(kinds, e.Skill+" "+e.Message)
		}
	}
	if len(kinds) != 9 || kinds[0] != "probe Called Counter.add" || !slices.Contains(kinds, "probe Call of Counter.fail failed") {
		t.Errorf("traced %q", kinds)
	}
}

// Orders that belong to one process say so, and no others.
func TestSticks(t *testing.T) {
	of := func(tenant, session, layer, name string) string {
		return (&order.Order{For: order.Identity{Tenant: tenant}, Session: session, Skill: skill.ID{Layer: layer, Name: name, Digest: "d"}}).Sticks()
	}
	one := of("t", "s", "l", "n")
	seen := map[string]bool{one: true}
	for _, other := range []string{of("u", "s", "l", "n"), of("t", "r", "l", "n"), of("t", "s", "m", "n"), of("t", "s", "l", "o"), of("ts", "", "l", "n"), of("t\x00s", "l", "n", "")} {
		if seen[other] {
			t.Error("two processes are one")
		}
		seen[other] = true
	}
	if of("t", "", "l", "n") != "" || of("t", "s", "l", "n") != one {
		t.Error("a run sticks")
	}
	home := func(tenant, session, name string) string {
		return (&order.Order{For: order.Identity{Tenant: tenant}, Session: session, Skill: skill.ID{Layer: "l", Name: name, Digest: "d"}}).Home()
	}
	if one := home("t", "", "n"); one == "" || home("t", "s", "n") != one || home("u", "", "n") == one || home("t", "", "o") == one {
		t.Error("two homes are one, or one is two")
	}
}

// A skill that may not run has no tools, one that changed is not called, and the answer of a worker must fit the call.
func TestToolsetsRefused(t *testing.T) {
	p := newToolPair(t, ", none:None")
	here := p.Toolsets("one", nil)
	no := fmt.Errorf("not approved")
	admit := func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, no }
	if list, err := here.Tools(t.Context(), p.s, admit); len(list) > 0 || err == nil || p.sent != nil {
		t.Errorf("%d tools, %v, sent %+v", len(list), err, p.sent)
	}
	list, err := here.Tools(t.Context(), p.s, nil)
	if errs := toolset.Errors(err); len(errs) != 1 || errs[0].Kind != toolset.KindImport || errs[0].Toolset != "none:None" {
		t.Errorf("errors %v", err)
	}
	known, ok := here.Known(t.Context(), p.s, admit)
	if ok { // a list with a failure is asked for again
		t.Errorf("known %d", len(known))
	}
	for name, answers := range map[string]func(*order.Result){
		"no name": func(r *order.Result) { r.Tools = []order.ToolForm{{Class: "Counter"}} },
		"no schema": func(r *order.Result) {
			r.Tools = []order.ToolForm{{Class: "Counter", Name: "x", Input: json.RawMessage(`7`)}}
		},
		"other run":  func(r *order.Result) { r.Run = "x" },
		"long class": func(r *order.Result) { r.Tools = []order.ToolForm{{Class: strings.Repeat("x", 1000), Name: "x"}} },
	} {
		p.answers = answers
		if got, err := here.Tools(t.Context(), p.s, nil); len(got) > 0 || err == nil || !strings.Contains(err.Error(), "answered what it was not asked") {
			t.Errorf("%s: %d tools, %v", name, len(got), err)
		}
	}
	p.answers = func(r *order.Result) { r.Answer.Media = []tool.Media{{Type: "image/png", Data: []byte("<svg>")}} }
	if r := named(t, list, "add").Call(t.Context(), json.RawMessage(`{"by":1}`)); r.Success || len(r.Media) > 0 {
		t.Errorf("media %+v", r)
	}
	p.answers = nil
	dir, err := p.s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.sent = nil
	if err := os.WriteFile(filepath.Join(dir, "counter.py"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := named(t, list, "add").Call(t.Context(), json.RawMessage(`{"by":1}`)); r.Success || p.sent != nil || !strings.Contains(r.Message, "has changed since its tools were listed") {
		t.Errorf("%+v", r)
	}
	for _, o := range []*order.Order{
		{Call: order.Tool, Tool: &order.ToolOf{Class: "A", Name: "x", Args: json.RawMessage(`{}`)}}, {Call: order.Tool, Session: "s"}, {Call: order.Tools, Session: "s"},
		{Call: order.Tool, Session: "s", Tool: &order.ToolOf{Class: "A", Args: json.RawMessage(`{}`)}}, {Call: order.Tool, Session: "s", Tool: &order.ToolOf{Class: "A", Name: "x", Args: json.RawMessage(`{`)}},
		{Call: order.Tools, Session: "s", Tool: &order.ToolOf{Name: "x"}}, {Call: order.Help, Session: "s", Script: &order.Script{Name: "a", File: "a"}},
		{Call: order.Tools, Session: strings.Repeat("s", 1000), Tool: &order.ToolOf{}},
	} {
		o.Version, o.Run, o.Skill = order.Version, "r", skill.ID{Layer: "l", Name: "x", Digest: "sha256:" + strings.Repeat("a", 64)}
		if err := o.Check(); err == nil {
			t.Errorf("%+v is in order", o)
		}
	}
	p.worker.Close()
	if err := os.WriteFile(filepath.Join(dir, "counter.py"), []byte(counter), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Toolsets("late", nil).Tools(t.Context(), p.s, nil); err == nil || !strings.Contains(err.Error(), "the worker ends") {
		t.Errorf("after its end: %v", err)
	}
}

// A kit does not notice that the toolsets of its skills are elsewhere.
func TestToolsetsOfKit(t *testing.T) {
	p := newToolPair(t, "")
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(filepath.Dir(must(p.s.Dir(t.Context()))), nil), Trust: skill.TrustRoot}}})
	if err != nil {
		t.Fatal(err)
	}
	kit := skilltool.New(&skilltool.Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil), Scripts: p.Sender, Toolsets: p.Toolsets("kit", nil)})
	set := &tool.Set{}
	for _, tl := range kit.Tools() {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	calls := &tool.Executor{Tools: set, Check: kit.Check}
	calls.Call(t.Context(), "skill", json.RawMessage(`{"skill_name":"probe"}`))
	for _, tl := range kit.More(t.Context(), set) {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	if r := calls.Call(t.Context(), "add", json.RawMessage(`{"by":3}`)); !r.Success || value(t, r) != `{"n":3}` {
		t.Errorf("%+v", r)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
