package disclose_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// Each style that names a skill of a server says which one, also where only names fit. A skill of this machine looks as ever.
func TestOriginInEachStyle(t *testing.T) {
	skillFS := func(name string) skill.Source {
		text := "---\nname: " + name + "\ndescription: Pays money back. Use it when somebody wants that.\n---\nBody\n"
		return skill.FS(fstest.MapFS{name + "/SKILL.md": {Data: []byte(text)}}, nil)
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{
		{Name: "project", Source: skillFS("local")}, {Name: "mcp:docs", Server: "docs", Source: skillFS("refunds")}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, style := range disclose.Styles() {
		if style == disclose.Breadcrumb { // it names no skill
			continue
		}
		whole, err := disclose.Catalog(t.Context(), c, &disclose.Options{Style: style})
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for budget := whole.Tokens + 5; budget > 0; budget-- {
			list, err := disclose.Catalog(t.Context(), c, &disclose.Options{Style: style, Budget: budget})
			if err != nil {
				t.Fatal(err)
			}
			seen = seen || strings.Contains(list.Body, "refunds")
			if strings.Contains(list.Body, "refunds") && !strings.Contains(list.Body, "From the MCP server docs") {
				t.Errorf("%s within %d tokens: %s", style, budget, list.Body)
			}
			if strings.Contains(list.Body, "local") && strings.Count(list.Body, "From the MCP server") > 1 {
				t.Errorf("%s within %d tokens: %s", style, budget, list.Body)
			}
		}
		if !seen {
			t.Errorf("%s never shows the skill: %s", style, whole.Body)
		}
	}
}
