package skill

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
	m, problems := Parse([]byte(added("metadata:", "  requires: "+strings.Join(names, " "))), &ParseOptions{Dir: "my-skill"})
	if len(m.Requires) != maxRequires || m.Requires[31] != "c31" {
		t.Errorf("%d commands are required: %q", len(m.Requires), m.Requires)
	}
	if got := strings.Join(problemLines(problems), ", "); !strings.Contains(got, "fields-many 5:13") {
		t.Errorf("got %s", got)
	}
}
