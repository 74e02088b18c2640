package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// R179: the rules of all sources are joined, each with its place; a project adds to ask and deny only.
func TestPermissions(t *testing.T) {
	user := "permissions:\n  allow:\n    - Bash(go test:*)\n    - Edit(docs/**)\n  deny: [Read(.env)]\n"
	project := "permissions:\n  allow: [Bash]\n  ask: ['Bash(git push:*)']\n  deny:\n    - Bash(curl:*)\nagent:\n  mode: all\n"
	w := newWorld(t).user(user).inProject(project)
	c, problems := w.load()
	show := func(list []Rule) string {
		var out []string
		for _, r := range list {
			out = append(out, fmt.Sprintf("%s %s:%d", r.Text, r.Origin.Rank, r.Origin.Line))
		}
		return strings.Join(out, ", ")
	}
	if got := show(c.Permissions.Allow); got != "Bash(go test:*) user:3, Edit(docs/**) user:4" {
		t.Errorf("allow: %s", got)
	}
	if got := show(c.Permissions.Ask); got != "Bash(git push:*) project:3" {
		t.Errorf("ask: %s", got)
	}
	if got := show(c.Permissions.Deny); got != "Bash(curl:*) project:5, Read(.env) user:5" {
		t.Errorf("deny: %s", got)
	}
	if c.Permissions.Doubt != "" || c.Agent.Mode != "ask" || len(problems) != 2 {
		t.Errorf("doubt %q, mode %s, %v", c.Permissions.Doubt, c.Agent.Mode, problems)
	}
}

// Where a rule that denies or asks may be lost, everything is in doubt.
func TestPermissionsInDoubt(t *testing.T) {
	for _, tt := range []struct {
		name, user, project string
		want                bool
	}{
		{"nothing", "", "", false},
		{"a rule that allows", "permissions:\n  allow: {a: b}\n", "", false},
		{"a map", "permissions:\n  deny: {a: b}\n", "", true},
		{"an item that is not a text", "permissions:\n  ask:\n    - [a]\n", "", true},
		{"a long rule", "permissions:\n  deny: ['" + strings.Repeat("x", maxRule+1) + "']\n", "", true},
		{"a section that is not a map", "permissions: [deny]\n", "", true},
		{"a file that is no YAML", "permissions: [\n", "", true},
		{"a project's rule", "", "permissions:\n  deny: {a: b}\n", true},
	} {
		c, problems := newWorld(t).user(tt.user).inProject(tt.project).load()
		if strings.Contains(c.Permissions.Doubt, "config.yaml") != tt.want || tt.want && len(problems) == 0 {
			t.Errorf("%s: got %q with %v", tt.name, c.Permissions.Doubt, problems)
		}
	}
}

// R179: a rule is added to the user's file, and nothing else in it changes.
func TestPermit(t *testing.T) {
	for _, tt := range []struct{ name, before, rule, after string }{
		{"no file", "", "Bash(go test:*)", "permissions:\n  allow:\n    - 'Bash(go test:*)'\n"},
		{"other sections", "# mine\nskills:\n  allow: [a]\n", "Edit(docs/**)", "# mine\nskills:\n  allow: [a]\npermissions:\n  allow:\n    - 'Edit(docs/**)'\n"},
		{"a list", "permissions:\n  allow:\n    - Read # all\n  deny: [x]\n", "Bash(echo 'a, b')", "permissions:\n  allow:\n    - Read # all\n    - 'Bash(echo ''a, b'')'\n  deny: [x]\n"},
		{"a flow list", "permissions:\n  allow: [Read]\n", "Bash(ls:*)", "permissions:\n  allow: [Read, 'Bash(ls:*)']\n"},
		{"it is there", "permissions:\n  allow: ['Read']\n", "Read", "permissions:\n  allow: ['Read']\n"},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
			t.Fatal(err)
		}
		changed, err := Permit(t.Context(), path, tt.rule)
		got, _ := os.ReadFile(path)
		if err != nil || string(got) != tt.after || changed != (tt.before != tt.after) {
			t.Errorf("%s: %v %t\n%s", tt.name, err, changed, got)
		}
	}
	for _, rule := range []string{"", " ", "Bash(a\nb)", strings.Repeat("x", maxRule+1)} {
		if _, err := Permit(t.Context(), filepath.Join(t.TempDir(), "c"), rule); err == nil {
			t.Errorf("%q was added", rule)
		}
	}
}
