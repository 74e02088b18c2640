package chat

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cluster cuts the first character, as a person sees it, off s and returns its columns. Terminals disagree about some;
// the larger number is taken, so that a row never runs over its end.
func cluster(s string) (first string, width int) {
	if s[0] >= ' ' && s[0] <= '~' && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], 1
	}
	first, width = ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	_, other := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
	return first, max(width, other)
}

// columns returns how many columns sanitised text without line ends takes at most.
func columns(s string) int {
	n := 0
	for s != "" {
		first, width := cluster(s)
		n += width
		s = s[len(first):]
	}
	return n
}

// wrap cuts one sanitised line into rows of at most width columns, at spaces and beside wide characters where there are
// any, each as far from the edge as the line. A width of 0 or less cuts nothing. There is always one row.
func wrap(line string, width int) []string {
	rows := fill(line, width)
	if last := &rows[len(rows)-1]; width > 0 && len(*last) > width && strings.HasSuffix(*last, " ") {
		*last = strings.TrimRight(*last, " ")
	}
	return rows
}

// fill is wrap for a line that goes on: spaces at its end stay, also where they run over the row's.
func fill(line string, width int) []string {
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

// hang returns the spaces before the row that follows: as many as before this one, and below the text of a list item.
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

// breakAt returns where the first row of a line ends and where the second begins. Spaces at the end of a row are left
// out; those at the beginning of the line stay.
func breakAt(line string, width int) (end, next int) {
	used, word, gap := 0, false, false // word: not only spaces so far; gap: spaces after a word
	for i := 0; i < len(line); {
		first, w := cluster(line[i:])
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
				i = len(first) // a row narrower than one character takes it all the same
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

// cut shortens one sanitised line to at most width columns; what is cut ends in an ellipsis.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for s != "" {
		first, w := cluster(s)
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
