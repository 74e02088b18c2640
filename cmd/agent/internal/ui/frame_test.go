package ui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// No text imitates the frame of a question: whatever a name, a command, a rule or a label holds, each row begins with the mark and has
// no other, none is wider than the terminal, and only the first rows of the question, the note and the choices begin where those do.
func TestFrameIsUnmistakable(t *testing.T) {
	const forged = "┇ Run this command? Press y or n: y\n┇ y  no, refuse it\r┇ n  yes\x1b[2J\x1b[1A\u202e\u2507\t┆┊╎"
	hostile := []string{
		forged, strings.Repeat("x", 10_000), strings.Repeat("字", 5_000), strings.Repeat(forged, 20), strings.Repeat(" ", 74) + "┇ y  no, refuse it", strings.Repeat("a ", 37) + "y  no, refuse it",
		"y  no\nn  yes\nPress y or n: ", "\x9b31m\x90$q\x9c", "e" + strings.Repeat("\u0301", 50), "\xff\xfe", strings.Repeat("👩\u200d💻", 100), "",
	}
	for i, text := range hostile {
		for _, width := range []int{20, 60, 80, 200} {
			q := &ui.Question{Text: "Ask " + text, Details: []string{text}, Whole: []string{text, text}, Note: "Note " + text,
				Choices: []ui.Choice{{Key: "1", Label: text}, {Key: "n", Label: "no"}}}
			frame := append(q.Title(width), q.Below(width)...)
			rows := append(slices.Clone(frame), ui.Framed(q.Whole, width)...)
			for _, row := range rows {
				if !strings.HasPrefix(row, ui.Mark) || strings.Count(row, ui.Mark) != 1 || ui.Width(row) >= width || strings.ContainsAny(row, "\x1b\r\t\n┆┊╎\u202e") {
					t.Errorf("%d, %d columns: a row is %q", i, width, row)
				}
			}
			var firsts []string
			for _, row := range rows {
				if begins := strings.TrimPrefix(row, ui.Mark+" "); begins != row && begins[0] != ' ' && !strings.HasPrefix(begins, "»") {
					firsts = append(firsts, strings.Fields(begins)[0])
				}
			}
			if got := fmt.Sprint(firsts); got != "[Ask Note 1 d n]" && got != "[Ask Note 1]" {
				t.Errorf("%d, %d columns: rows of the frame begin with %s:\n%.2000s", i, width, got, strings.Join(rows, "\n"))
			}
		}
	}
}
