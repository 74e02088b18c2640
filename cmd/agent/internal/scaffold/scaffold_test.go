package scaffold_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/cmd/agent/internal/scaffold"
	"github.com/agent-base/agent-base/internal/draft"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Whatever the name and the kinds, the files are valid but for what their author is to write, have no placeholder left, and tools have names that providers accept.
// R157
func TestFiles(t *testing.T) {
	tools := regexp.MustCompile("`([a-z0-9_-]+)\\(")
	for _, name := range []string{"a", "csv-report", "3d", strings.Repeat("long-", 12) + "name", "数据", "отчёт-2"} { // C75
		for _, kinds := range [][]scaffold.Kind{nil, {scaffold.Script}, {scaffold.Toolset}, {scaffold.TypeScript}, {scaffold.MCP}, {scaffold.Script, scaffold.MCP, scaffold.Script}, scaffold.Kinds()} {
			files, err := scaffold.Files(name, kinds)
			if err != nil {
				t.Fatal(err)
			}
			m, problems := manifest.Parse(files["SKILL.md"], &manifest.Options{Dir: name})
			if len(problems) != 1 || problems[0].Code != "description-unwritten" || draft.InBody(m.Body) < 0 || m.Name != name {
				t.Errorf("%s %v: %v in\n%s", name, kinds, problems, files["SKILL.md"])
			}
			for file, text := range files {
				if strings.Contains(string(text), "{{") || !utf8.Valid(text) {
					t.Errorf("%s %v: %s has a placeholder, or half a letter:\n%s", name, kinds, file, text)
				}
			}
			for _, found := range tools.FindAllSubmatch(files["SKILL.md"], -1) {
				if len(found[1]) > 64 {
					t.Errorf("the name %s has %d characters", found[1], len(found[1]))
				}
			}
		}
	}
	all, err := scaffold.Files("x", scaffold.Kinds())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SKILL.md", "evals/triggers.json", "mcp.json", "scripts/hello.py", "server/hello.py", "tests/test_hello.py", "toolsets/hello.py", "toolsets/index.ts"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
