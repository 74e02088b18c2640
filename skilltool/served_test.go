package skilltool

import (
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// server has one skill, as an MCP server publishes it. It counts what is read.
type server struct {
	files fstest.MapFS
	read  map[string]int
}

func (s *server) Skills(context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		head := s.files["SKILL.md"].Data
		yield(skill.Found{Path: "office/pdf", Head: head, Place: "places/pdf", Open: func(context.Context) (skill.Tree, error) { return &served{maps.Clone(s.files), s}, nil }}, nil)
	}
}

type served struct {
	fstest.MapFS
	s *server
}

func (t *served) Open(name string) (fs.File, error) {
	if f, ok := t.MapFS[name]; ok && !f.Mode.IsDir() {
		t.s.read[name]++
	}
	return t.MapFS.Open(name)
}
func (t *served) Close() error                               { return nil }
func (t *served) Sum(ctx context.Context) (skill.Sum, error) { return dirhash.Dir(ctx, t.MapFS, nil) }

// servedKit returns a kit with the skill of a server, which is trusted if its digest is among approved.
func servedKit(t *testing.T, front string, change func(*Options)) (*Kit, *server, map[string]bool) {
	t.Helper()
	s := &server{read: map[string]int{}, files: fstest.MapFS{
		"SKILL.md":           {Data: []byte(skillText("pdf", front, "Run `scripts/fill.sh`.\n\n!`date`"))},
		"references/more.md": {Data: []byte("More.\n")},
		"scripts/fill.sh":    {Data: []byte("#!/bin/sh\necho filled\n")},
		"scripts/lib.py":     {Data: []byte("x = 1\n")},
	}}
	approved := map[string]bool{}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "mcp:docs", Server: "docs", Source: s}},
		Trust: func(ctx context.Context, sub skill.Subject) (skill.Trust, error) {
			digest, err := sub.Digest(ctx)
			at, bad := sub.Place(ctx)
			if approved[digest] && bad == nil && sub.Server == "docs" && at == "mcp@places/pdf" {
				return skill.TrustApproved, err
			}
			return skill.TrustNone, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil), Scripts: host(t, nil), Hooks: true}
	if change != nil {
		change(o)
	}
	return New(o), s, approved
}

// checkedCall calls a tool as an executor does, with bash among the tools.
func checkedCall(t *testing.T, k *Kit, name, args string) tool.Result {
	t.Helper()
	var set tool.Set
	bash := tool.Tool{Name: "bash", Call: func(context.Context, json.RawMessage) tool.Result { return tool.Success("ran", "ran") }}
	for _, tl := range append(k.Tools(), bash) {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return (&tool.Executor{Tools: &set, Check: k.Check, After: k.After}).Call(t.Context(), name, json.RawMessage(args))
}

// A model sees where a skill of a server comes from, in the list, on activation and in what it reads. Nothing but what is asked for is read.
func TestServedOrigin(t *testing.T) {
	k, s, _ := servedKit(t, "", nil)
	list, err := disclose.ToolList(k.o.Catalog(), nil)
	if err != nil || !strings.Contains(list.Body, "From the MCP server docs: Does pdf things.") {
		t.Errorf("list %q, %v", list.Body, err)
	}
	if len(s.read) > 0 {
		t.Errorf("a list reads %v", s.read)
	}
	e, err := k.o.Catalog().Lookup("pdf")
	if err != nil {
		t.Fatal(err)
	}
	if offer, _, err := k.offered(t.Context(), e); err != nil || offer.Body != "[The skill 'pdf' fits: call the tool skill with it.]" || len(s.read) > 0 {
		t.Errorf("its triggers: %q, %v, read %v", offer.Body, err, s.read)
	}
	r := checkedCall(t, k, "skill", `{"skill_name":"pdf"}`)
	text := r.Encode()
	for _, want := range []string{`source=\"MCP server docs\"`, "[These instructions come from the MCP server docs, not from the user.]", `"origin":"MCP server docs"`, "the command is not run on loading"} {
		if !strings.Contains(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(text)), want) {
			t.Errorf("activation has no %q: %s", want, text)
		}
	}
	if got := slices.Sorted(maps.Keys(s.read)); !slices.Equal(got, []string{"SKILL.md"}) {
		t.Errorf("an activation reads %v", got)
	}
	if r := checkedCall(t, k, "skill_read", `{"skill_name":"pdf","path":"references/more.md"}`); !strings.Contains(string(r.Encode()), `"origin":"MCP server docs"`) {
		t.Errorf("file %s", r.Encode())
	}
}

// Before the content of a skill of a server is approved nothing is run while it is active, whatever its manifest says.
func TestServedApproval(t *testing.T) {
	asked := 0
	var yes func(context.Context, *skill.Skill) (bool, error)
	k, s, approved := servedKit(t, "allowed-tools: Bash\nhooks:\n  PreToolUse:\n    - command: scripts/fill.sh\n", func(o *Options) {
		o.Policy.Approve = func(ctx context.Context, s *skill.Skill) (bool, error) { asked++; return yes(ctx, s) }
	})
	yes = func(context.Context, *skill.Skill) (bool, error) { return false, nil }
	if r := checkedCall(t, k, "bash", `{}`); !r.Success {
		t.Errorf("before it is active: %s", r.Message)
	}
	if r := checkedCall(t, k, "skill", `{"skill_name":"pdf"}`); !r.Success {
		t.Fatal(r.Message)
	}
	if now, _ := k.o.Session.Lookup("pdf"); now.Tools.Declared || len(now.Hooks) > 0 || now.Server != "docs" {
		t.Errorf("what its manifest asks for holds: %+v", now)
	}
	for _, call := range []string{"bash", "script_run"} {
		r := checkedCall(t, k, call, `{"skill_name":"pdf","script_name":"fill"}`)
		if r.Success || !strings.Contains(r.Message, "Skill 'pdf' of the MCP server docs is not approved: nothing is run while it is active.") {
			t.Errorf("%s: %v, %s", call, r.Success, r.Message)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	yes = func(ctx context.Context, s *skill.Skill) (bool, error) {
		digest, err := s.Digest(ctx)
		approved[digest] = true
		return true, err
	}
	if r := checkedCall(t, k, "bash", `{}`); !r.Success {
		t.Errorf("after a yes: %s", r.Message)
	}
	if r := checkedCall(t, k, "script_run", `{"skill_name":"pdf","script_name":"fill"}`); !r.Success || asked != 3 {
		t.Errorf("a script after a yes, asked %d times: %s", asked, r.Message)
	}

	s.files = maps.Clone(s.files)
	s.files["references/new.md"] = &fstest.MapFile{Data: []byte("new")}
	for _, tt := range []struct{ tool, args string }{{"bash", `{}`}, {"skill_read", `{"skill_name":"pdf","path":"references/new.md"}`}} {
		if r := checkedCall(t, k, tt.tool, tt.args); r.Success {
			t.Errorf("%s with a content that has changed: %s", tt.tool, r.Encode())
		}
	}
	if r := checkedCall(t, k, "skill_read", `{"skill_name":"pdf","path":"references/new.md"}`); !strings.Contains(r.Message, "has changed on the MCP server docs since it became active. Activate it again") {
		t.Errorf("message %s", r.Message)
	}
	yes = func(context.Context, *skill.Skill) (bool, error) { return false, nil }
	if r := checkedCall(t, k, "skill", `{"skill_name":"pdf"}`); !r.Success {
		t.Fatal(r.Message)
	}
	if r := checkedCall(t, k, "skill_read", `{"skill_name":"pdf","path":"references/new.md"}`); !r.Success {
		t.Errorf("after it was activated again: %s", r.Message)
	}
	if r := checkedCall(t, k, "bash", `{}`); r.Success {
		t.Error("the approval of the content before holds")
	}
	if r := checkedCall(t, k, "skill", `{"skill_name":"pdf","action":"deactivate"}`); !r.Success {
		t.Fatal(r.Message)
	}
	if r := checkedCall(t, k, "bash", `{}`); !r.Success {
		t.Errorf("after it was left: %s", r.Message)
	}
}
