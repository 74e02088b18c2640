package rule_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/scan/rule"
)

// The page about scans names each rule.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scan.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rule.Builtin().Rules() {
		if !strings.Contains(string(page), "`"+r.ID+"`") {
			t.Errorf("docs/scan.md does not name %s", r.ID)
		}
	}
}
