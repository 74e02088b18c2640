package markup

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// maxColumns is how many columns a table has at most: the last one has the rest of its line.
const maxColumns = 50

// table is a table whose lines arrive one by one.
type table struct {
	raw    bool
	rows   [][][]cell // that are not drawn; the first of all is the head
	need   []int      // columns of the widest cell
	halves []int      // of the space that a cell leaves, before it: 0 at the left of its column, 1 in the middle, 2 at the right
	widths []int      // once they are settled
}

// newTable begins a table with its head and the line below it.
func newTable(head, below string, raw bool) *table {
	t := &table{raw: raw}
	for _, c := range split(below) {
		switch {
		case !strings.HasSuffix(c, ":"):
			t.halves = append(t.halves, 0)
		case strings.HasPrefix(c, ":"):
			t.halves = append(t.halves, 1)
		default:
			t.halves = append(t.halves, 2)
		}
	}
	t.put(head, "1")
	return t
}

func (t *table) clone() *table {
	c := *t
	c.rows, c.need = slices.Clone(t.rows), slices.Clone(t.need)
	return &c
}

// delimits reports whether a line stands between the head of a table and its other rows.
func delimits(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|-: ") == ""
}

// split returns the cells of a line.
func split(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var out []string
	from, code := 0, false
	for i := 0; i < len(line) && len(out) < maxColumns-1; i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			code = !code
		case '|':
			if !code {
				out, from = append(out, strings.TrimSpace(line[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(line[min(from, len(line)):]))
}

func (t *table) put(line, sgr string) {
	var row [][]cell
	for i, text := range split(line) {
		n := inline{raw: t.raw, base: sgr}
		c := n.read(text, true)
		if t.widths == nil {
			if len(t.need) == i {
				t.need = append(t.need, 1)
			}
			t.need[i] = max(t.need[i], size(c))
		} else if i >= len(t.widths) && i > 0 { // the last column has the rest
			last := &row[len(row)-1]
			*last = append(cells(*last, " | ", ""), c...)
			continue
		}
		row = append(row, c)
	}
	t.rows = append(t.rows, row)
}

// add takes a line, and returns the rows that are finished.
func (t *table) add(line string, width int, paint func(sgr, text string) string) []string {
	t.put(line, "")
	if t.widths == nil && len(t.rows) < maxLive {
		return nil
	}
	return t.end(width, paint)
}

// end returns what is not drawn.
func (t *table) end(width int, paint func(sgr, text string) string) (out []string) {
	if t.widths == nil {
		t.settle(width)
		out = t.draw(t.rows[0], width, paint)
		if total := t.total(); total <= width {
			line := strings.Repeat("─", total)
			if paint != nil {
				line = paint("2", line)
			}
			out = append(out, line)
		}
		t.rows = t.rows[1:]
	}
	for _, row := range t.rows {
		out = append(out, t.draw(row, width, paint)...)
	}
	t.rows = nil
	return out
}

// gap is what stands between two columns.
const gap = 2

func (t *table) total() int {
	total := gap * (len(t.widths) - 1)
	for _, w := range t.widths {
		total += w
	}
	return total
}

// settle divides the width: columns that need less than their share get what they need.
func (t *table) settle(width int) {
	const least = 3
	t.widths = make([]int, len(t.need))
	left, open := width-gap*(len(t.need)-1), len(t.need)
	for again := true; again && open > 0; {
		again = false
		share := left / open
		for i, need := range t.need {
			if t.widths[i] == 0 && need <= share {
				t.widths[i], again = need, true
				left -= need
				open--
			}
		}
	}
	for i := range t.widths {
		if t.widths[i] == 0 {
			t.widths[i] = max(left/open, least)
		}
	}
}

// draw returns the rows of one line of the table. Where the screen is too narrow for columns, each cell has rows of its own.
func (t *table) draw(row [][]cell, width int, paint func(sgr, text string) string) []string {
	wrapped := func(c []cell, w wrapper, width int) []string { return w.fill(c, width, true, paint) }
	if t.total() > width {
		var out []string
		for i, c := range row {
			lead := "  "
			if i == 0 {
				lead = ""
			}
			out = append(out, wrapped(c, wrapper{lead: lead, hang: "  "}, width)...)
		}
		return out
	}
	columns, high := make([][]string, len(t.widths)), 1
	for i := range t.widths {
		if i < len(row) {
			columns[i] = wrapped(row[i], wrapper{}, t.widths[i])
		}
		high = max(high, len(columns[i]))
	}
	out := make([]string, high)
	for y := range out {
		var b strings.Builder
		pad := 0
		for i, w := range t.widths {
			b.WriteString(strings.Repeat(" ", pad))
			pad = w + gap
			if y >= len(columns[i]) {
				continue
			}
			rest := w - shown(columns[i][y])
			if i < len(t.halves) {
				before := rest * t.halves[i] / 2
				b.WriteString(strings.Repeat(" ", before))
				rest -= before
			}
			b.WriteString(columns[i][y])
			pad = rest + gap
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// shown returns how many columns a painted row takes.
func shown(row string) int {
	var plain strings.Builder
	for {
		text, rest, ok := strings.Cut(row, "\x1b[")
		plain.WriteString(text)
		if !ok {
			return ui.Columns(plain.String())
		}
		_, row, _ = strings.Cut(rest, "m")
	}
}
