package manifest

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// security 2.14: a pattern that is too long, or has too many classes, is off before it is read.
func TestPatternsAreMeasuredFirst(t *testing.T) {
	for name, source := range map[string]string{
		"long": "(?i)" + strings.Repeat(`[B-\x{1e942}]`, 1000), "ranges": "(?i)" + strings.Repeat(`[B-\x{1e942}]`, maxWide+1), "classes": strings.Repeat(`\pL`, maxWide+1),
	} {
		list := []listItem{{source, &yamlnode.Node{Kind: yamlnode.Scalar, Value: source}}}
		p := newParser(nil)
		if got := p.patterns(list); len(got) > 0 || len(p.problems) != 1 || p.problems[0].Code != "triggers-pattern-off" {
			t.Errorf("%s: %q, %v", name, got, p.problems)
		}
		if n := testing.AllocsPerRun(3, func() { newParser(nil).patterns(list) }); n > 40 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	m, _ := Parse([]byte(added("triggers:", "  patterns: ['[一-龥]+x', '\\pL\\d', 'plain[a-z]']")), nil)
	if len(m.Triggers.Patterns) != 3 {
		t.Errorf("got %q", m.Triggers.Patterns)
	}
}
