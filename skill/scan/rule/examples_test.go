package rule_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// folder returns the skill that an example is.
func folder(example string) fstest.MapFS {
	head := "---\nname: example\ndescription: Helps with examples. Use it for examples.\n---\n"
	files := fstest.MapFS{}
	name, text := "SKILL.md", head
	for line := range strings.SplitAfterSeq(example, "\n") {
		if next, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(next, " --") {
			files[name] = &fstest.MapFile{Data: []byte(text)}
			name, text = strings.TrimSuffix(next, " --"), ""
			continue
		}
		text += line
	}
	files[name] = &fstest.MapFile{Data: []byte(text)}
	return files
}

// Each rule finds something in the skills that it names for that, and nothing in the others.
func TestExamples(t *testing.T) {
	set := rule.Builtin()
	for _, r := range set.Rules() {
		for i, example := range append(append([]string{}, r.Match...), r.Skip...) {
			report, err := scan.Scan(t.Context(), folder(example), nil)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range set.Judge(report) {
				found = found || f.Rule == r.ID
			}
			if want := i < len(r.Match); found != want {
				t.Errorf("%s finds something in its example %d: %v, want %v; the facts are %+v", r.ID, i, found, want, report.Facts)
			}
		}
	}
}
