package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		a, _ := set.Approval("x", "")
		if got := a.Wants.From("declared").String(); got != "declared agent:fork, declared model:m/1, declared env:KALSHI_*, declared env:TOKEN, declared host:*.example.com, declared write:., "+
			"declared write:~/a, declared limit:timeout=2m0s, declared tool:*, declared tool:Bash(git log:*), declared tool:Read, declared hook:PreToolUse Bash: check.sh now, "+
			"declared server:t, declared server:t (mcp.json): npx server" {
			t.Errorf("declared %s", got)
		}
		if got := a.Wants.From("seen").String(); got != "seen env:SEEN, seen host:a.b" || a.Forgoes.String() != "declared tool:Write" {
			t.Errorf("seen %s, given up %s", got, a.Forgoes)
		}
		g, ok := set.Grant("x", "", digest("a"))
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
	for _, want := range []string{`"version": 2`, `"note": "kept"`, `"later": 1`, `"given": [`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if strings.Contains(string(b), `"permissions"`) || strings.Contains(string(b), `"suggested"`) {
		t.Errorf("a former key is left: %s", b)
	}
}
