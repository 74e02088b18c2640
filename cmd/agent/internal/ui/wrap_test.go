package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoteWrapped(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"short", "nothing", []string{"hint: nothing"}},
		{"words", "the registry was damaged and was made anew", []string{"hint: the registry was damaged and was", "  made anew"}},
		{"a long word", "see https://example.com/a/very/long/path/indeed", []string{"hint: see", "  https://example.com/a/very/long/path/indeed"}},
		{"a command", "agent skill repair csv-of-team fetches them again", []string{"hint:", "  agent skill repair csv-of-team fetches them again"}},
		{"two commands", "agent skill verify csv names them, agent skill repair csv puts back what was installed",
			[]string{"hint: agent skill verify csv names them,", "  agent skill repair csv puts back what was installed"}},
		{"a long command", "if it is trusted: agent skill grant csv --net api.example.org --env TOKEN",
			[]string{"hint: if it is trusted:", "  agent skill grant csv --net api.example.org --env TOKEN"}},
		{"in quotation marks", `see the list: "agent skill list --all --skills-dir x" shows all`,
			[]string{"hint: see the list:", `  "agent skill list --all --skills-dir x"`, "  shows all"}},
		{"with a variable", "then it is allowed: AGENT_PACKAGE_HOSTS=pypi.org agent skill prepare csv",
			[]string{"hint: then it is allowed:", "  AGENT_PACKAGE_HOSTS=pypi.org agent skill prepare csv"}},
		{"output", "failed\n  a line of a script's output that is longer than the terminal is", []string{"hint: failed", "    a line of a script's output that is longer than the terminal is"}},
	} {
		s, _, _, stderr := Test()
		s.ErrTerminal, s.Width = true, 40
		s.Hint(row.text)
		if diff := cmp.Diff(row.want, strings.Split(strings.TrimSuffix(stderr.String(), "\n"), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
	s, _, _, stderr := Test()
	s.Width = 40 // stderr is a file
	s.Warn(strings.Repeat("word ", 20))
	if strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("a file got %q", stderr)
	}
}

// No word is lost, and no row that could be shorter is longer than the terminal.
func FuzzWrapped(f *testing.F) {
	f.Add("hint: agent skill verify csv names them, agent skill repair csv puts it back", 40)
	f.Add("a b  c 世界 世界", 3)
	f.Fuzz(func(t *testing.T, text string, width int) {
		line := Line(text)
		got := wrapped(line, width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(line), " ") {
			t.Errorf("%q became %q", line, got)
		}
		for row := range strings.SplitSeq(got, "\n") {
			if width > 2 && Width(row) > width && strings.Contains(strings.TrimSpace(row), " ") && !strings.Contains(row, "agent") {
				t.Errorf("the row %q is longer than %d", row, width)
			}
		}
	})
}
