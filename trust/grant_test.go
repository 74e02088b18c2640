package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/want"
)

func home() want.Set { return want.New(want.Of(want.Home, "")) }

func sets(t *testing.T, text string) want.Set {
	t.Helper()
	s, err := want.ParseSet(text)
	must(t, err)
	return s
}

func give(t *testing.T, s *Store, key Grant, change func(*Grant)) {
	t.Helper()
	must(t, s.EditGrant(t.Context(), key, func(g *Grant) error {
		change(g)
		return nil
	}))
}

// C65: a grant is for one content under one name, and lapses with it.
func TestGrants(t *testing.T) {
	s := newStore(t)
	key := Grant{Layer: at("/p/my-skill"), Name: "My_Skill", Digest: digest("a"), Dir: "/p/my-skill", Files: []File{{Path: "SKILL.md", SHA256: strings.Repeat("1", 64)}}}
	give(t, s, key, func(g *Grant) {
		g.Given = append(g.Given, want.VariableOf("B_KEY"), want.VariableOf("A_KEY"), want.VariableOf("B_KEY"))
	})
	give(t, s, key, func(g *Grant) {
		g.Given = append(g.Given, want.Of(want.Home, ""), want.WriteOf(want.Here), want.WriteOf("/data"), want.HostOf("example.com"))
	})
	set := loaded(t, s)
	got, ok := set.Grant(id("my-skill", "/p/my-skill", digest("a")))
	wanted := Grant{Layer: at("/p/my-skill"), Name: "my-skill", Digest: digest("a"), Dir: "/p/my-skill", GrantedAt: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Given: sets(t, "env:A_KEY, env:B_KEY, home, host:example.com, write:., write:/data"), Files: key.Files}
	if diff := cmp.Diff(wanted, got); diff != "" || !ok {
		t.Error(diff)
	}
	if _, ok := set.Grant(id("MY-skill", "/elsewhere", digest("a"))); !ok {
		t.Error("the same content elsewhere has another grant")
	}
	if _, ok := set.Lapsed(id("my-skill", "/p/my-skill", digest("a"))); ok {
		t.Error("the grant of this content has lapsed")
	}
	for _, other := range []struct{ name, dir, digest string }{{"my-skill", "/p/my-skill", digest("b")}, {"other", "/p/my-skill", digest("a")}, {"my-skill", "/p/my-skill", ""}} {
		if g, ok := set.Grant(id(other.name, other.dir, other.digest)); ok {
			t.Errorf("%v has the grant %v", other, g)
		}
	}
	if g, ok := set.Lapsed(id("my-skill", "/p/my-skill", digest("b"))); !ok || len(g.Given) != 6 {
		t.Errorf("the lapsed grant is %v", g)
	}
	if _, ok := set.Lapsed(id("my-skill", "/q/my-skill", digest("b"))); ok {
		t.Error("a grant of another folder has lapsed here")
	}

	// A grant for other content replaces it and begins empty.
	key.Digest = digest("b")
	give(t, s, key, func(g *Grant) { g.Given = append(g.Given, want.VariableOf("C")) })
	set = loaded(t, s)
	if g, _ := set.Grant(id("my-skill", "", digest("b"))); g.Given.String() != "env:C" || len(set.Grants()) != 1 {
		t.Errorf("got %v of %v", g, set.Grants())
	}
	give(t, s, key, func(g *Grant) { g.Given, g.Withheld = nil, want.New(want.VariableOf("D")) })
	key.Digest = digest("c")
	give(t, s, key, func(g *Grant) { // what was withheld stays so
		if g.Withheld.String() != "env:D" || !g.GrantedAt.IsZero() {
			t.Errorf("the grant of another content begins as %v", g)
		}
		g.Withheld = nil
	})
	if set = loaded(t, s); set.HasGrants("my-skill") {
		t.Errorf("an empty grant stays: %v", set.Grants())
	}
}

func TestRevokeEndsGrants(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"x", "y"} {
		give(t, s, Grant{Layer: "l", Name: name, Digest: digest("a")}, func(g *Grant) { g.Given = home() })
	}
	if found, err := s.Revoke(t.Context(), "X"); !found || err != nil {
		t.Errorf("Revoke = %v, %v", found, err)
	}
	if set := loaded(t, s); set.HasGrants("x") || !set.HasGrants("y") {
		t.Errorf("left are %v", set.Grants())
	}
}

func TestRefusedGrants(t *testing.T) {
	s := newStore(t)
	key := Grant{Layer: at("/p/x"), Name: "x", Digest: digest("a"), Dir: "/p/x"}
	for _, tt := range []struct {
		text   string
		change func(*Grant)
	}{
		{"not the name of a variable", func(g *Grant) { g.Given = want.New(want.VariableOf("KEY_*")) }},
		{"env needs a name", func(g *Grant) { g.Given = want.New(want.VariableOf("")) }},
		{"not the name of a variable", func(g *Grant) { g.Given = want.New(want.VariableOf("A=b")) }},
		{"not an absolute path", func(g *Grant) { g.Given = want.New(want.ReadOf("data")) }},
		{"not a clean absolute path", func(g *Grant) { g.Given = want.New(want.ReadOf("~/data")) }},
		{"a tool cannot be granted", func(g *Grant) { g.Given = want.New(want.Of(want.Tool, "Bash")) }},
		{"not a clean absolute path", func(g *Grant) { g.Given = want.New(want.WriteOf("/a/../b")) }},
	} {
		checkError(t, s.EditGrant(t.Context(), key, func(g *Grant) error { tt.change(g); return nil }), tt.text)
	}
	no := errors.New("no")
	if err := s.EditGrant(t.Context(), key, func(*Grant) error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	checkError(t, s.EditGrant(t.Context(), Grant{Name: "x"}, func(g *Grant) error { g.Given = home(); return nil }), "64 hexadecimal")
	if _, err := os.Stat(s.Path); !os.IsNotExist(err) {
		t.Errorf("a refused change wrote something: %v", err)
	}
}

// What a newer version of the program wrote stays, in the file and in each grant. A damaged grant damages the file.
func TestGrantsKeepUnknownFields(t *testing.T) {
	s := newStore(t)
	must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
	text := `{"version":1,"roots":[],"approvals":[],"grants":[{"name":"x","digest":"` + digest("a") + `","granted_at":"2026-01-01T00:00:00Z","env":["A"],"gpu":{"n":1}}]}`
	must(t, os.WriteFile(s.Path, []byte(text), 0o600))
	give(t, s, Grant{Layer: "l", Name: "x", Digest: digest("a")}, func(g *Grant) { g.Given = append(g.Given, want.VariableOf("B")) })
	must(t, s.AddRoot(t.Context(), "/r"))
	b, err := os.ReadFile(s.Path)
	if err != nil || strings.Count(string(b), `"gpu": {`) != 1 || !strings.Contains(string(b), `"env:B"`) {
		t.Errorf("%s, %v", b, err)
	}
	must(t, os.WriteFile(s.Path, []byte(strings.Replace(text, `"A"`, `"A*"`, 1)), 0o600))
	if _, err := s.Load(t.Context()); !errors.Is(err, errCorrupt) {
		t.Errorf("got %v", err)
	}
}
