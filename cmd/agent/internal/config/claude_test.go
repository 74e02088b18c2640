package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Rules of Claude Code's settings that deny or ask hold, its rules that allow do not, and what cannot be read is doubt.
func TestClaude(t *testing.T) {
	long := strings.Repeat("x", maxRule+1)
	for _, tt := range []struct {
		name, file, text string
		deny, ask        string
		doubt            bool
	}{
		{"rules", "settings.json", `{"permissions":{"deny":["Read(.env)"],"ask":["Bash(git push:*)"],"allow":["Bash(*)"]}}`, "Read(.env)", "Bash(git push:*)", false},
		{"another shape of what does not hold", "settings.json", `{"permissions":{"deny":["Read(.env)"],"allow":"Bash"}}`, "Read(.env)", "", false},
		{"local", "settings.local.json", `{"permissions":{"deny":["Read(.env)"]}}`, "Read(.env)", "", false},
		{"none", "settings.json", `{"model":"x"}`, "", "", false},
		{"damaged", "settings.json", `{"permissions":`, "", "", true},
		{"another shape", "settings.json", `{"permissions":{"deny":"Read(.env)"}}`, "", "", true},
		{"a long rule", "settings.json", `{"permissions":{"deny":["Read(.env)","` + long + `"]}}`, "Read(.env)", "", true},
		{"a large file", "settings.json", `{"permissions":{"deny":["Read(.env)"]}}` + strings.Repeat(" ", maxClaude), "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			dir := filepath.Join(w.project, ".claude")
			w.mkdir(dir)
			if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, problems := w.load()
			show := func(rules []Rule) string {
				var out []string
				for _, r := range rules {
					out = append(out, r.Text)
				}
				return strings.Join(out, ", ")
			}
			p := c.Permissions
			if (tt.name == "rules") != (show(p.Idle) == "Bash(*)") {
				t.Errorf("ignored %q", show(p.Idle))
			}
			if deny, ask := show(p.Deny), show(p.Ask); deny != tt.deny || ask != tt.ask || len(p.Allow) > 0 || (p.Doubt != "") != tt.doubt || tt.doubt != (len(problems) > 0) {
				t.Errorf("deny %q, ask %q, allow %v, doubt %q, %v", deny, ask, p.Allow, p.Doubt, problems)
			}
		})
	}
}
