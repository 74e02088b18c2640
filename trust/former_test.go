package trust

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill"
)

// C65: what a file of the first format says holds, and the next write has the present format.
func TestFormerFile(t *testing.T) {
	s := newStore(t)
	must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
	text := `{"version":1,"roots":["/r"],"later":1,"approvals":[{"name":"x","digest":"` + digest("a") + `","approved_at":"2026-01-01T00:00:00Z","note":"kept","permissions":[
		"env: KALSHI_* TOKEN","network: *.example.com","write: . ~/a b","limits: timeout=2m0s","allowed-tools: Read Bash(git log:*)","hook PreToolUse Bash: check.sh now",
		"toolsets: t","toolset t (mcp.json): npx server","context: fork","model: m/1","contacts: a.b","reads: SEEN","tools: all except Write"]}],
	"grants":[{"name":"x","digest":"` + digest("a") + `","granted_at":"2026-01-01T00:00:00Z","env":["A"],"home":true,"with":["npm:x"],"read":["/d"],"write":["."],"net":["*","h.example"],
		"suggested":["s.example"],"withheld":["KALSHI_*","buildhost","*.example.com","read:~/n"]}]}`
	must(t, os.WriteFile(s.Path, []byte(text), 0o600))
	check := func() {
		t.Helper()
		set := loaded(t, s)
		a, _ := set.Approval("x", "bundled")
		if got := a.Wants.From("declared").String(); got != "declared agent:fork, declared model:m/1, declared env:KALSHI_*, declared env:TOKEN, declared host:*.example.com, declared write:., "+
			"declared write:~/a, declared limit:timeout=2m0s, declared tool:*, declared tool:Bash(git log:*), declared tool:Read, declared hook:PreToolUse Bash: check.sh now, "+
			"declared server:t, declared server:t (mcp.json): npx server" {
			t.Errorf("declared %s", got)
		}
		if got := a.Wants.From("seen").String(); got != "seen env:SEEN, seen host:a.b" || a.Forgoes.String() != "declared tool:Write" {
			t.Errorf("seen %s, given up %s", got, a.Forgoes)
		}
		g, ok := set.Grant(skill.ID{Layer: "bundled", Name: "x", Digest: digest("a")})
		if got := g.Given.String(); !ok || got != "user env:A, user home, user host:*, user host:h.example, seen host:s.example, user write:., user read:/d, user package:npm:x" {
			t.Errorf("given %s", got)
		}
		if got := g.Withheld.String(); got != "declared env:KALSHI_*, declared env:buildhost, declared host:*.example.com, declared host:buildhost, declared read:~/n" {
			t.Errorf("withheld %s", got)
		}
	}
	check()
	must(t, s.AddRoot(t.Context(), "/q"))
	check()
	b, err := os.ReadFile(s.Path)
	must(t, err)
	for _, want := range []string{`"version": 3`, `"note": "kept"`, `"later": 1`, `"given": [`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if strings.Contains(string(b), `"permissions"`) || strings.Contains(string(b), `"suggested"`) {
		t.Errorf("a former key is left: %s", b)
	}
}

// C57, C65: in format 2 the folder of a skill was its place. The records of such a file hold for the same folder, version or skill of a server,
// also if the folder is gone, and the next write has the present format. The file here is as untidy as after years.
func TestFormerPlaces(t *testing.T) {
	top := t.TempDir()
	under := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, name := range []string{"one/x", "two/x", "plugins/.store/aaaaaaaaaaaaaaaa/X_y"} {
		must(t, os.MkdirAll(under(name), 0o700))
	}
	must(t, os.Symlink(under("plugins"), under("link")))
	s := newStore(t)
	s.Installed, s.Served = filepath.Join(under("link"), ".store"), under("mcp")
	approval := func(name, dir, d, more string) string {
		return `{"name":"` + name + `","digest":"` + digest(d) + `","dir":"` + filepath.ToSlash(dir) + `","approved_at":"2026-01-01T00:00:00Z"` + more + `}`
	}
	grant := func(name, dir, d, given string) string {
		return `{"name":"` + name + `","digest":"` + digest(d) + `","dir":"` + filepath.ToSlash(dir) + `","granted_at":"2026-01-01T00:00:00Z","given":["user ` + given + `"],"gpu":{"n":1}}`
	}
	must(t, os.MkdirAll(filepath.Dir(s.Path), 0o700))
	must(t, os.WriteFile(s.Path, []byte(`{"approvals":[`+strings.Join([]string{
		approval("x", under("two/x"), "b", ""), approval("x", under("one/x"), "a", `,"note":{"by":"me"}`), // two skills of a name
		approval("x", under("gone/x"), "c", `,"approved_at":"2025-01-01T00:00:00Z"`), approval("x-y", under("plugins/.store/aaaaaaaaaaaaaaaa/X_y"), "a", ""),
		approval("x-y", under("plugins/.store/bbbbbbbbbbbbbbbb/X_y"), "b", ""),       // a version that is gone
		approval("deep", under("plugins/.store/aaaaaaaaaaaaaaaa/X_y/deep"), "a", ""), // is no version
		approval("pdf", under("mcp/.docs-1/pdf-2"), "a", ""), `{"name":"own","digest":"` + digest("a") + `","approved_at":"2026-01-01T00:00:00Z"}`}, ",")+
		`],"later":7,"version":2,"grants":[`+grant("x", under("one/x"), "a", "env:A")+`,`+grant("x-y", under("plugins/.store/aaaaaaaaaaaaaaaa/X_y"), "a", "env:B")+`],"roots":["/r"]}`), 0o600))
	want := map[string]skill.ID{}
	for at, of := range map[string]skill.ID{
		"one": {Name: "x", Layer: at(under("one/x")), Digest: digest("a")}, "two": {Name: "x", Layer: at(under("two/x")), Digest: digest("b")},
		"gone": {Name: "x", Layer: place.RealFolder(under("gone/x")), Digest: digest("c")}, "version": {Name: "x-y", Layer: "installed@aaaaaaaaaaaaaaaa", Digest: digest("a")},
		"old": {Name: "x-y", Layer: "installed@bbbbbbbbbbbbbbbb", Digest: digest("b")}, "server": {Name: "pdf", Layer: "mcp@.docs-1/pdf-2", Digest: digest("a")},
		"deep": {Name: "deep", Layer: at(under("plugins/.store/aaaaaaaaaaaaaaaa/X_y/deep")), Digest: digest("a")},
		"own":  {Name: "own", Layer: "bundled", Digest: digest("a")},
	} {
		want[at] = of
	}
	check := func() {
		t.Helper()
		set := loaded(t, s)
		if n := len(set.Approvals()); n != len(want) {
			t.Errorf("%d approvals", n)
		}
		for name, of := range want {
			if a, ok := set.Approval(of.Name, of.Layer); !ok || a.ID() != of {
				t.Errorf("%s: %+v", name, a.ID())
			}
		}
		for name, given := range map[string]string{"one": "user env:A", "version": "user env:B"} {
			if g, ok := set.Grant(want[name]); !ok || g.ID() != want[name] || g.Given.String() != given {
				t.Errorf("the grant of %s is %+v", name, g)
			}
		}
		if another := set.Another("x-y", at(under("three/x-y"))); another != "" {
			t.Errorf("the version in %q is another skill than one of its name in a folder", another)
		}
		if another := set.Another("x", at(under("three/x"))); another != under("two/x") && another != under("one/x") && another != "" {
			t.Errorf("another is in %q", another)
		}
	}
	check()
	must(t, os.Symlink(under("three"), under("gone"))) // leads nothing of the former file elsewhere
	must(t, os.MkdirAll(under("three/x"), 0o700))
	must(t, s.AddRoot(t.Context(), "/q"))
	check()
	text := string(read(t, s.Path))
	for part, n := range map[string]int{`"version": 3`: 1, `"later": 7`: 1, `"by": "me"`: 1, `"gpu": {`: 2, `"/r"`: 1, `"/q"`: 1} {
		if strings.Count(text, part) != n {
			t.Errorf("%d of %s in %s", strings.Count(text, part), part, text)
		}
	}
	must(t, s.Approve(t.Context(), Approval{Layer: at(under("one/x")), Name: "x", Digest: digest("d"), Dir: under("one/x")})) // replaces only the one of its folder
	set := loaded(t, s)
	for d, want := range map[string]skill.Trust{"a": skill.TrustChanged, "b": skill.TrustApproved, "c": skill.TrustApproved, "d": skill.TrustApproved} {
		if got := trusted(set, "x", under("one/x"), digest(d)); got != want {
			t.Errorf("content %s is %v, want %v", d, got, want)
		}
	}
	for _, bad := range []string{`"dir":7`, `"dir":"one/x"`} { // with such a value the file counts as damaged, as before
		must(t, os.WriteFile(s.Path, []byte(`{"version":2,"roots":[],"approvals":[{"name":"x","digest":"`+digest("a")+`",`+bad+`}]}`), 0o600))
		if _, err := s.Load(t.Context()); !errors.Is(err, errCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
