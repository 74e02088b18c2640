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
	hard       bool   // rows break where they are full, and keep their spaces
	row        []cell // that is being filled
	used       int    // its columns
	broken     bool   // rows of the line were returned
}

func (l *line) clone() line {
	c := *l
	c.row = slices.Clone(l.row)
	return c
}

// fill takes characters and returns the rows that are full; with last, all rows.
func (w *wrapper) fill(more []cell, width int, last bool, paint func(sgr, text string) string) (rows []string) {
	for _, c := range more {
		space := c.text == " " && !w.hard
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
	end, next := len(w.row), len(w.row)
	if n := len(w.row); !w.hard && c.width < 2 && w.row[n-1].width < 2 {
		for i := n - 1; i > 0; i-- {
			if w.row[i].text == " " {
				end, next = i, i+1
				break
			}
			if w.row[i].width > 1 || w.row[i-1].width > 1 {
				end, next = i, i
				break
			}
		}
	}
	row := w.draw(w.row[:end], paint)
	w.row = append([]cell{}, w.row[next:]...)
	w.used, w.broken = size(w.row), true
	return row
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

// columns returns how many columns sanitised text takes.
func columns(s string) int { return size(cells(nil, s, "")) }

// cut shortens sanitised text to at most width columns.
func cut(s string, width int) string { return ui.Truncate(s, width) }
