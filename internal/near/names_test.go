package near

import (
	"strings"
	"testing"
)

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
