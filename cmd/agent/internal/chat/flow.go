package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// maxHeld is how many bytes of combining marks and joined characters are held back before they are shown.
const maxHeld = 64

// row is one row of the screen, sanitised and without colours.
type row struct {
	text  string
	first bool // a line of the text begins here
}

// flow turns text that arrives in pieces into rows. It returns a row when the row can no longer change, so a text of
// any length costs no more memory than its last row. Empty lines wait for the next line that is not empty: a text
// neither begins nor ends with one.
type flow struct {
	held   string // as it came: its end may be half a character
	open   row    // sanitised: the row being filled
	column int    // where the line of the open row ends, for tabs
	some   bool   // there was a line that is not empty
	empty  int    // empty lines that wait
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
	if strings.TrimSpace(f.open.text) != "" {
		rows = append(rows, f.finish(f.open)...)
	}
	*f = flow{}
	return rows
}

// live returns the row being filled, or several rows where the held piece is long.
func (f *flow) live(width int) []row {
	c := *f
	rows := c.take(f.held, width)
	if strings.TrimSpace(c.open.text) != "" {
		rows = append(rows, c.finish(c.open)...)
	}
	return rows
}

func (f *flow) take(s string, width int) []row {
	var rows []row
	for i, line := range strings.Split(ui.Prose(s), "\n") {
		if i > 0 {
			rows = append(rows, f.finish(f.open)...)
			f.open, f.column = row{first: true}, 0
		}
		if !f.some && f.open.text == "" {
			f.open.first = true
		}
		if width > 0 { // elsewhere tabs stay: a pipe gets the code as the model wrote it
			line, f.column = ui.Untab(line, f.column)
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

// short leaves out spaces far beyond the end of a row: nobody sees them, and each new piece would scan them again.
func short(s string, width int) string {
	if width <= 0 || len(s) <= width {
		return s
	}
	return s[:min(len(s), len(strings.TrimRight(s, " "))+width+1)]
}

// finish returns a row with the empty ones that waited for it. It keeps an empty row waiting.
func (f *flow) finish(r row) []row {
	if r.text = strings.TrimRight(r.text, " \t"); r.text == "" {
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

// settled returns how much of s can be sanitised for good. The rest may change with what follows: a line feed after a
// carriage return, marks on the last character, a character that a joiner adds, or the rest of a character's bytes.
func settled(s string) int {
	for i := len(s); i > 0 && len(s)-i < maxHeld; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		switch {
		case r == utf8.RuneError && size == 1, unicode.Is(unicode.M, r), joiner(r):
			continue
		case r == '\n':
			return i + size
		}
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); !joiner(before) {
			return i
		}
	}
	if len(s) < maxHeld {
		return 0
	}
	return len(s)
}

// joiner reports whether r is a zero-width joiner or non-joiner: what is shown of it depends on both its neighbours.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
