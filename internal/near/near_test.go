package near

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	names := []string{"list", "info", "validate", "activate", "maxSkills", "agent-base", strings.Repeat("l", 300)}
	tests := map[string]string{
		"lst": "list", "lists": "list", "actvate": "activate", "vaildate": "validate", "x": "", "remove": "", "": "",
		"MAX_SKILS": "maxSkills", "Agent_Base": "agent-base", strings.Repeat("l", 299): "",
	}
	for word, want := range tests {
		if got := Name(word, names); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEdits(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}, {"form", "from", 1}}
	for _, tt := range tests {
		if got := edits(tt.a, tt.b, 9); got != tt.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	names := []string{"status", "search", "markets", "market", "statistics", "github-devops", "repository"}
	rows := map[string]string{"statsu": "status", "Status": "status", "marketss": "market markets", "stat": "statistics status", "q": "", "": "",
		"h": "", "gi": "github-devops", "DE": "github-devops", "os": "", "ops": "github-devops", "rep": "repository", strings.Repeat("x", 10_000): ""}
	for name, want := range rows {
		if got := strings.Join(Names(name, names), " "); got != want {
			t.Errorf("%.20q: got %q, want %q", name, got, want)
		}
	}
}
