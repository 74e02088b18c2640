package variable

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/language"
)

func TestCheckDeclared(t *testing.T) {
	tests := []struct {
		reason string // "" for an entry that counts
		texts  []string
	}{
		{"", []string{"TOKEN", "_x", "token", "KALSHI_*", "abc_*", "ABC_*_KEY", "MYAPP_*", "GHE_X*"}},
		{"before * stand at least three letters and _", []string{"*", "A*", "A_*", "MY_*", "GH_*", "K8S_*", "AZ_*", "MYAPP*", "*_TOKEN", "_ABC_*"}},
		{"it is not the name of a variable", []string{"", "a b", "1A", "A-B", "ABC_?", "ABC_[xy]", "ABC_* X", `A\B`, strings.Repeat("A", maxName+1)}},
		{"no script gets it", []string{"LD_PRELOAD", "ld_preload", "LD_*", "PATH", "GIT_*", "AGENT_HOME", "HOME"}},
	}
	for _, test := range tests {
		for _, text := range test.texts {
			err := CheckDeclared(text)
			if test.reason == "" && err != nil || test.reason != "" && (err == nil || !strings.Contains(err.Error(), test.reason)) {
				t.Errorf("%q: got %v, want %q", text, err, test.reason)
			}
		}
	}
}

// Each pattern of the list is one that path.Match can read, and holds for itself.
func TestNeverPasses(t *testing.T) {
	for _, p := range slices.Concat(never, language.Obeyed()) {
		if _, err := path.Match(p, ""); err != nil || !NeverPasses(strings.ReplaceAll(p, "*", "X")) || p != strings.ToUpper(p) {
			t.Errorf("%q: %v", p, err)
		}
	}
	if NeverPasses("TZ") || NeverPasses("TOKEN") {
		t.Error("a usual variable never passes")
	}
}

// An entry that counts covers no variable that never passes, except by a longer name than its prefix.
func FuzzCheckDeclared(f *testing.F) {
	for _, s := range []string{"TOKEN", "KALSHI_*", "*", "A_*", "LD_PRELOAD", "BASH_*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if CheckDeclared(text) != nil {
			return
		}
		if _, err := path.Match(text, ""); err != nil || NeverPasses(text) {
			t.Errorf("%q counts: %v", text, err)
		}
		if slices.Contains([]string{"", "*"}, text) {
			t.Errorf("%q counts", text)
		}
	})
}

func TestIsKey(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "DB_PASSWORD": true, "github_pat": true, "GHTOKEN": true, "MYAPIKEY": true,
		"KEYBOARD": false, "DEBUG": false, "AUTHOR": false, "MONKEY_DIR": false, "PATTERN": false,
	} {
		if got := IsKey(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
