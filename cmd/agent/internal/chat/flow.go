package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// maxHeld is how many bytes of combining marks are waited for before they are shown.
const maxHeld = 64

// row is one row of the screen, sanitised and without colours.
type row struct {
	text  string
	first bool // a line of the text begins here
}

// flow turns text that arrives in pieces into rows. What cannot change any more comes out, so that a text of any length
// costs no more than its last row. Empty lines wait for a line after them: a text neither begins nor ends with one.
type flow struct {
	held  string // as it came: its end may be half a character
	open  row    // sanitised: the row being filled
	some  bool   // there was more than empty lines
	empty int    // empty lines that wait
}

// add takes a piece and returns the rows that are finished.
func (f *flow) add(s string, width int) []row {
	s = f.held + s
	n := settled(s)
	f.held = s[n:]
	return f.take(s[:n], width)
}

// end returns what is left.
func (f *flow) end(width int) []row {
	rows := f.take(f.held, width)
	if strings.TrimRight(f.open.text, " ") != "" {
		rows = append(rows, f.finish(f.open)...)
	}
	*f = flow{}
	return rows
}

// live returns the row being filled, or rows where the held piece is long.
func (f *flow) live(width int) []row {
	c := *f
	rows := c.take(f.held, width)
	if strings.TrimRight(c.open.text, " ") != "" {
		rows = append(rows, c.finish(c.open)...)
	}
	return rows
}

func (f *flow) take(s string, width int) []row {
	var rows []row
	lines := strings.Split(ui.Text(s), "\n")
	for i, line := range lines {
		if i > 0 {
			rows = append(rows, f.finish(f.open)...)
			f.open = row{first: true}
		}
		if !f.some && f.open.text == "" {
			f.open.first = true
		}
		parts := fill(f.open.text+line, width)
		for _, part := range parts[:len(parts)-1] {
			rows = append(rows, f.finish(row{part, f.open.first})...)
			f.open.first = false
		}
		f.open.text = short(parts[len(parts)-1], width)
	}
	return rows
}

// short leaves out spaces far beyond the end of a row: nobody sees them, and each piece would look at them again.
func short(s string, width int) string {
	if width <= 0 || len(s) <= width {
		return s
	}
	return s[:min(len(s), len(strings.TrimRight(s, " "))+width+1)]
}

// finish returns a row with the empty ones that waited for it; an empty one waits itself.
func (f *flow) finish(r row) []row {
	if r.text = strings.TrimRight(r.text, " "); r.text == "" {
		if f.some {
			f.empty++
		}
		return nil
	}
	rows := make([]row, f.empty, f.empty+1)
	for i := range rows {
		rows[i].first = true
	}
	f.some, f.empty = true, 0
	return append(rows, r)
}

// settled returns how much of s can be sanitised for good: without a line feed that may follow, marks that may be added
// to the last character, or the rest of its bytes.
func settled(s string) int {
	for i := len(s); i > 0 && len(s)-i < maxHeld; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		switch {
		case r == utf8.RuneError && size == 1:
			continue
		case unicode.Is(unicode.M, r):
			continue
		case r == '\n':
			return i + size
		}
		return i
	}
	if len(s) < maxHeld {
		return 0
	}
	return len(s)
}
