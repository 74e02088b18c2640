package skilltool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/test/tokentest"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skills"
)

// descriptors returns the tools as they go over the wire.
func descriptors(t *testing.T, k *Kit) string {
	t.Helper()
	var b strings.Builder
	for _, tl := range k.Tools() {
		d, err := json.Marshal(map[string]any{"name": tl.Name, "description": tl.Description, "input_schema": tl.Input})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(d)
	}
	return b.String()
}

// R85, R190: what a request carries because of skills, for each disclosure: the descriptors of the tools and the prefix
// with its blocks. The rows' limits are 2,000 without a skill, 3,000 with one and 5,000 with two; ours are far lower.
func TestContextCost(t *testing.T) {
	count := tokentest.Counter(t)
	none := []string{"none-of-them"}
	one := []string{"kalshi-markets"}
	two := []string{"kalshi-markets", "hello-extended"}
	rows := []struct {
		what  string
		allow []string
		most  int
	}{{"no skill", none, 0}, {"kalshi-markets", one, 1_150}, {"and hello-extended", two, 1_250}, {"all bundled skills", nil, 1_400}}
	for _, mode := range disclose.Modes() {
		for _, r := range rows {
			c, err := skill.Open(t.Context(), &skill.Options{Allow: r.allow, LookPath: func(string) (string, error) { return "/bin/x", nil },
				Layers: []skill.Layer{{Name: "bundled", Source: skill.FS(skills.Core(), nil), Trust: skill.TrustBundled}}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := disclose.NewPlan(t.Context(), c, &disclose.PlanOptions{Mode: mode, Blocks: &disclose.BlockOptions{}})
			if err != nil {
				t.Fatal(err)
			}
			k := New(&Options{Catalog: func() *skill.Catalog { return c }, Session: session.New(nil), Scripts: host(t, nil), Show: Show{Unlisted: mode != disclose.ToolDescription}})
			tools, prefix := descriptors(t, k), p.Prefix()
			real := count(tools) + count(prefix.Body)
			t.Logf("%-16s %-19s %4d tokens: tools %d, prefix %d (estimated: %d and %d)", mode, r.what, real, count(tools), count(prefix.Body), disclose.Tokens(tools), prefix.Tokens)
			if real > r.most {
				t.Errorf("%s, %s: %d tokens, want at most %d", mode, r.what, real, r.most)
			}
		}
	}
}

// R85: ten scripts cost nothing until somebody asks for them, and then less than 500 tokens.
func TestTenScripts(t *testing.T) {
	count := tokentest.Counter(t)
	files := tree{"many/SKILL.md": skillText("many", "", "Run them."), "few/SKILL.md": skillText("few", "", "Run them.")}
	for i := range 10 {
		files[fmt.Sprintf("many/scripts/report_%d.py", i)] = statusScript
	}
	k, _ := kit(t, kitOptions{files: files})
	if text := descriptors(t, k); strings.Contains(text, "report_") {
		t.Errorf("scripts are listed before a call asks for them:\n%s", text)
	}
	list := call(t, k, "script_list", `{"skill_name":"many"}`)
	listed := count(string(list.Encode()))
	with := count(activation(t, k, `{"skill_name":"many"}`).Content)
	without := count(activation(t, k, `{"skill_name":"few"}`).Content)
	t.Logf("ten scripts: %d tokens in script_list, %d in the activation", listed, with-without)
	if listed >= 500 || with-without >= 250 {
		t.Errorf("ten scripts: %d tokens in script_list, want under 500; %d in the activation, want under 250", listed, with-without)
	}
	if strings.Contains(string(list.Encode()), "import sys") {
		t.Error("the text of a script is in the list")
	}
}
