package host_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

const example = "../../../examples/hello-extended"

func TestManifestOfTheTypeScriptExample(t *testing.T) { // R165, C55
	text, err := os.ReadFile(example + "/SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	m, problems := manifest.Parse(text, nil)
	if len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
	if m.Name != "hello-extended" || m.Version != "1.0.0" {
		t.Errorf("name %q, version %q", m.Name, m.Version)
	}
	for _, line := range []string{
		`keywords: ["hello", "greet", "greeting"]`, `verbs: ["say", "wave"]`, `patterns: ["greet\\s+\\w+"]`,
		`default_enabled: true`, `- "toolsets/index:HelloToolset"`,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("SKILL.md lacks %s", line)
		}
	}
}

func TestTypeScriptExample(t *testing.T) { // R165, R184
	tested := false
	for _, r := range javascripts(t) {
		if !loadsTypeScript(t, r) {
			continue
		}
		tested = true
		s := start(t, r, withZod(t, example), "toolsets/index:HelloToolset")
		l := s.list()
		var names []string
		for _, tool := range l.Tools {
			names = append(names, tool.Name)
		}
		if want := []string{"HelloToolset.greet_in_language", "HelloToolset.greet_multiple"}; !slices.Equal(names, want) {
			t.Fatalf("%s: got %q, want %q; failures %s", r.program, names, want, l.failures())
		}
		got := s.call("HelloToolset.greet_in_language", `{"name":"Ada","language":"es"}`)
		if got.StructuredContent["output"] != "¡Hola, Ada!" || got.StructuredContent["title"] != "Greeting in es" {
			t.Errorf("%s: got %s", r.program, got.text())
		}
		if got := s.call("HelloToolset.greet_multiple", `{"names":["Ada","$&"]}`).text(); !strings.Contains(got, `["Hello, Ada!","Hello, $&!"]`) {
			t.Errorf("%s: got %s", r.program, got)
		}
		want := `! argument "language": Invalid option: expected one of "en"|"es"|"fr"|"de"|"ja"|"zh"`
		if got := s.call("HelloToolset.greet_in_language", `{"name":"Ada","language":"tlh"}`).text(); got != want {
			t.Errorf("%s: got %s", r.program, got)
		}
	}
	if !tested {
		t.Skip("no runtime that loads TypeScript: name node 22.18, bun or deno in AGENT_TEST_JAVASCRIPT")
	}
}
