package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// A manifest cannot make the engine look for thousands of commands: each costs a walk over PATH.
func TestRequiresAreBounded(t *testing.T) {
	var names []string
	for i := range 6000 {
		names = append(names, fmt.Sprintf("c%d", i))
	}
	m, problems := Parse([]byte(added("metadata:", "  requires: "+strings.Join(names, " "))), &Options{Dir: "my-skill"})
	if len(m.Requires) != maxRequires || m.Requires[31] != "c31" {
		t.Errorf("%d commands are required: %q", len(m.Requires), m.Requires)
	}
	if got := strings.Join(problemLines(problems), ", "); !strings.Contains(got, "fields-many 5:13") {
		t.Errorf("got %s", got)
	}
}

// No list of a manifest is longer than anybody reads; what protects is never cut.
func TestListsAreBounded(t *testing.T) {
	m, problems := Parse([]byte(added("tags: ["+strings.Repeat("a, ", 3000)+"b]")), &Options{Dir: "my-skill"})
	if got := strings.Join(problemLines(problems), ", "); len(m.Tags) > maxList || !strings.Contains(got, "fields-many 4:") {
		t.Errorf("%d tags: %s", len(m.Tags), got)
	}
	m, _ = Parse([]byte(added("allowed-tools: ["+strings.Repeat("Read, ", 3000)+"Write]")), nil)
	if n := len(m.AllowedTools.Rules); n == 0 || m.AllowedTools.Rules[n-1] != "Write" {
		t.Errorf("%d rules", n)
	}
}
