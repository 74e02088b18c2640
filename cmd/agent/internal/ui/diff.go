package ui

import (
	"strings"
	"unicode/utf8"
)

// styles returns the style of each row of the details.
func (q *Question) styles(rows []string) []Style {
	if !q.Diff {
		return make([]Style, len(rows))
	}
	return DiffStyles(rows)
}

// DiffStyles returns the style of each row that Framed made of the lines of a unified diff. Other rows have none.
func DiffStyles(rows []string) []Style {
	styles := make([]Style, len(rows))
	for i, row := range rows {
		rest, begins := strings.CutPrefix(row, Mark+"   ")
		switch {
		case !begins && i > 0:
			styles[i] = styles[i-1] // it continues the line above
		default:
			styles[i] = DiffStyle(rest)
		}
	}
	return styles
}

// DiffLine returns a line of a unified diff as one sanitised line. Tabs lead where they lead in the file.
func DiffLine(line string) string {
	if line == "" || line[0] >= utf8.RuneSelf {
		return Line(line)
	}
	rest, _ := Untab(strings.ReplaceAll(Text(line[1:]), "\n", " "), 0)
	return Line(line[:1]) + rest
}

// DiffStyle returns the style of a line of a unified diff, "" for none.
func DiffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "…"), strings.HasPrefix(line, `\`):
		return Dim
	}
	return ""
}
