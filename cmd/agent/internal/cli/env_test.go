package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// R160: .env.example names every value of AGENT_SKILLS, as a comment, and variables that are really read.
func TestEnvExample(t *testing.T) {
	b, err := os.ReadFile("../../../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	for _, want := range []string{"#AGENT_SKILLS=", "#AGENT_SKILLS=none", "#AGENT_SKILLS=all", "#AGENT_SKILLS=all-untrusted",
		"#AGENT_SKILLS=kalshi-markets", "#AGENT_SKILLS=kalshi-markets,hello-extended", "#SCRIPT_TIMEOUT=60", "#MAX_SCRIPT_OUTPUT=1048576"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line is %q", want)
		}
	}
	for line := range strings.Lines(string(b)) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			t.Errorf("the line %q sets something: all of them are comments", line)
		}
	}
	values := map[string]string{"SCRIPT_TIMEOUT": "7", "MAX_SCRIPT_OUTPUT": "70", "AGENT_SKILLS": "none", "AGENT_PROFILE": "wink"}
	cfg, problems := config.Load(&config.Options{Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }})
	if len(problems) > 0 || cfg.ScriptTimeout.Seconds() != 7 || cfg.MaxScriptOutput != 70 || cfg.Profile != "wink" {
		t.Errorf("timeout %s, output %d, profile %s, problems %v", cfg.ScriptTimeout, cfg.MaxScriptOutput, cfg.Profile, problems)
	}
}
