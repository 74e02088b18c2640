package tool

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// C40 R133: the table in docs/errors.md is the map, row by row. R102: its codes are the seven of the tools.
func TestCausesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") {
			_, rest, _ := strings.Cut(strings.TrimSpace(line)[1:], "|")
			rows = append(rows, rest)
		}
	}
	rows = rows[1:] // its head
	codes := map[Code]bool{}
	for c := range causes {
		reason := ""
		if c.Reason() != "" {
			reason = " `" + c.Reason() + "`"
		}
		want := fmt.Sprintf(" `%s` |%s | `%s` | `%s` |", c.Code(), reason, c.LoaderCode(), c.SkillCode())
		if int(c) >= len(rows) || rows[c] != want {
			t.Errorf("cause %d: docs/errors.md has not the row %s", c, want)
		}
		codes[c.Code()] = true
		if r := c.Failure("text"); r.Success || r.Error != c.Code() || r.Reason != c.Reason() || r.Message != "text" {
			t.Errorf("cause %d: got %+v", c, r)
		}
		if !slices.Contains([]string{"PARSE_ERROR", "VALIDATION_ERROR", "NOT_FOUND", "IO_ERROR", "SECURITY_ERROR"}, c.LoaderCode()) || !strings.HasPrefix(c.SkillCode(), "SKILL_") {
			t.Errorf("cause %d: %s and %s", c, c.LoaderCode(), c.SkillCode())
		}
	}
	if len(rows) != int(causes) || len(codes) != 7 {
		t.Errorf("%d rows, %d codes", len(rows), len(codes))
	}
}
