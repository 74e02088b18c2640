package chat

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// columns returns how many columns sanitised text without line ends takes on any terminal, at most.
func columns(s string) int {
	n := 0
	for s != "" {
		first, width := ui.Cluster(s)
		n += width
		s = s[len(first):]
	}
	return n
}

// rowsOf returns foreign text of several lines in rows. It neither begins nor ends with an empty one.
func rowsOf(text string, width int) (rows []string) {
	some := 0
	for line := range strings.SplitSeq(ui.Prose(text), "\n") {
		if width > 0 { // elsewhere tabs stay: a pipe gets the text as it is
			line, _ = ui.Untab(line, 0)
		}
		for _, r := range wrap(line, width) {
			if r = strings.TrimRight(r, " \t"); r != "" || len(rows) > 0 {
				rows = append(rows, r)
			}
			if r != "" {
				some = len(rows)
			}
		}
	}
	return rows[:some]
}

// wrap cuts one sanitised line into rows of at most width columns, at spaces and at wide characters where it can. Each
// row keeps the line's indentation. A width of 0 or less cuts nothing. wrap always returns at least one row.
func wrap(line string, width int) []string {
	if width > 0 {
		line = strings.TrimRight(line, " ")
	}
	if width <= 0 || len(line) <= width && columns(line) <= width {
		return []string{line}
	}
	var rows []string
	indent := ""
	for {
		end, next := breakAt(line, width-len(indent))
		rows = append(rows, indent+line[:end])
		if next >= len(line) {
			return rows
		}
		indent = hang(rows[len(rows)-1], width)
		line = line[next:]
	}
}

// hang returns the indentation of the next row: that of this row, or of the text of a list item.
func hang(row string, width int) string {
	text := strings.TrimLeft(row, " ")
	n := len(row) - len(text)
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch {
	case strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* "):
		n += 2
	case digits > 0 && digits < 4 && strings.HasPrefix(text[digits:], ". "):
		n += digits + 2
	}
	if n > width/2 || n+4 > width {
		return ""
	}
	return strings.Repeat(" ", n)
}

// breakAt returns where the first row of a line ends and where the second begins. It leaves out spaces at the end of a
// row and keeps those at the beginning of the line.
func breakAt(line string, width int) (end, next int) {
	used, word, gap := 0, false, false // word: not only spaces so far; gap: spaces after a word
	for i := 0; i < len(line); {
		first, w := ui.Cluster(line[i:])
		switch {
		case first == " ":
			if word && !gap {
				end = i
			}
			if gap = word; gap {
				next = i + 1
			}
		case used+w > width && next > 0:
			return end, next
		case used+w > width:
			if i == 0 {
				i = len(first) // a row that is narrower than one character takes it anyway
			}
			return i, i
		default:
			if w > 1 && word && !gap {
				end, next = i, i
			}
			word, gap = true, false
		}
		i += len(first)
		used += w
		if w > 1 {
			end, next = i, i
		}
	}
	return len(line), len(line)
}

// cut shortens one sanitised line to at most width columns. A line that is cut ends in an ellipsis.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for s != "" {
		first, w := ui.Cluster(s)
		if used+w > width-1 {
			break
		}
		b.WriteString(first)
		used += w
		s = s[len(first):]
	}
	if width > 0 {
		b.WriteString("…")
	}
	return b.String()
}
