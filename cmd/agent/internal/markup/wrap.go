package markup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// wrapper breaks the characters of a line into rows, at spaces and at wide characters where it can.
type wrapper struct {
	lead, hang string // before the first row, and before the others
	exact      bool   // of code: rows keep their spaces, so together they are the line
	row        []cell // that is being filled
	used       int    // its columns
	broken     bool   // rows of the line were returned
}

// Rows breaks one sanitised line into rows of at most width columns, at spaces and at wide characters where it can. Each row keeps the
// line's indentation, if there is room. A width of 0 or less breaks nothing. There is always a row.
func Rows(line string, width int) []string {
	if width > 0 {
		line = strings.TrimRight(line, " ")
	}
	if width <= 0 || len(line) <= width && ui.Columns(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	w := wrapper{lead: line[:len(line)-len(text)], hang: hang(line, width)}
	if len(w.lead)+2 > width {
		w.lead = ""
	}
	return w.fill(cells(nil, text, ""), width, true, nil)
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

func (l *line) clone() line {
	c := *l
	c.row = slices.Clone(l.row)
	return c
}

// fill takes characters and returns the rows that are full; with last, all rows.
func (w *wrapper) fill(more []cell, width int, last bool, paint func(sgr, text string) string) (rows []string) {
	for _, c := range more {
		space := c.text == " " && !w.exact
		for !space && len(w.row) > 0 && w.used+c.width > w.room(width) {
			rows = append(rows, w.broke(&c, paint))
		}
		if space && len(w.row) == 0 {
			continue
		}
		if space && w.used >= w.room(width) && w.row[len(w.row)-1].text == " " {
			continue // spaces beyond the end of a row: nobody sees them
		}
		w.row, w.used = append(w.row, c), w.used+c.width
	}
	if last && (len(w.row) > 0 || !w.broken) {
		rows = append(rows, w.draw(w.row, paint))
		w.row, w.used = nil, 0
	}
	return rows
}

// room returns how wide the row may be. What stands before it has one column for each character.
func (w *wrapper) room(width int) int { return max(width-utf8.RuneCountInString(w.before()), 1) }

func (w *wrapper) before() string {
	if w.broken {
		return w.hang
	}
	return w.lead
}

// broke takes the first row off, because a character does not fit.
func (w *wrapper) broke(c *cell, paint func(sgr, text string) string) string {
	end, next := w.breaks(c)
	row := w.draw(w.row[:end], paint)
	w.row = append([]cell{}, w.row[next:]...)
	w.used, w.broken = size(w.row), true
	return row
}

// breaks returns where the row ends and the next one begins if c does not fit. A row of code keeps at least half of its columns. Spaces
// where it breaks begin the next row, because spaces at the end of a row cannot be seen.
func (w *wrapper) breaks(c *cell) (end, next int) {
	n, least, used := len(w.row), 0, w.used
	if w.exact {
		least = w.used / 2
	}
	switch {
	case w.exact && w.row[n-1].text == " ":
	case w.exact && c.text == " ", c.width > 1, w.row[n-1].width > 1:
		return n, n
	}
	for i := n - 1; i > 0 && used > least; i-- {
		used -= w.row[i].width
		switch {
		case w.row[i].text == " " && !w.exact:
			return i, i + 1
		case w.row[i].text == " " && w.row[i-1].text != " ", w.row[i].width > 1, w.row[i-1].width > 1:
			return i, i
		}
	}
	return n, n
}

func (w *wrapper) draw(row []cell, paint func(sgr, text string) string) string {
	return strings.TrimRight(w.before()+painted(row, paint), " ")
}

// painted returns characters as they are shown. Spaces at their end have no colour.
func painted(row []cell, paint func(sgr, text string) string) string {
	for len(row) > 0 && row[len(row)-1].text == " " {
		row = row[:len(row)-1]
	}
	var b strings.Builder
	for i := 0; i < len(row); {
		var same strings.Builder
		j := i
		for ; j < len(row) && row[j].sgr == row[i].sgr; j++ {
			same.WriteString(row[j].text)
		}
		if text := same.String(); paint == nil || row[i].sgr == "" {
			b.WriteString(text)
		} else {
			b.WriteString(paint(row[i].sgr, text))
		}
		i = j
	}
	return b.String()
}

func size(row []cell) (n int) {
	for _, c := range row {
		n += c.width
	}
	return n
}
