package ui

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// There are gap spaces between columns. On a narrow terminal, columns are first cut to short and then to shortest, and between the
// two the first one to firstLeast.
const (
	gap        = 2
	short      = 20
	shortest   = 8
	firstLeast = 32

	dropped = -1 // the width of a column that is left out
)

// Table writes rows in aligned columns to Out, under a header unless that is nil. Every cell is sanitised as one line.
//
// On a terminal no row is longer than a line. Table cuts the last column with "..." first, which is usually the
// description, then the widest of the others, then a long first column, and others more. Where that is not enough it leaves out columns
// between the first and the last, from the right, and names them below. Elsewhere nothing is cut. Rows may have different lengths.
func (s *Streams) Table(header []string, rows [][]string) error {
	return s.TableOf(header, slices.Values(rows))
}

// TableOf is like Table, but iterates over the rows, twice: first to measure them. A row may reuse the memory of the row
// before it. omit has the columns that may be left out, in this order, if they are not those between the first and the last.
func (s *Streams) TableOf(header []string, rows iter.Seq[[]string], omit ...int) error {
	var cells []cell
	var widths []int
	if header != nil {
		cells = cleanRow(cells[:0], header)
		widths = widen(widths, cells)
	}
	for row := range rows {
		cells = cleanRow(cells[:0], row)
		widths = widen(widths, cells)
	}
	if s.Width > 0 {
		if omit == nil {
			for j := len(widths) - 2; j > 0; j-- {
				omit = append(omit, j)
			}
		}
		fit(widths, s.Width, omit)
	}
	out := bufio.NewWriter(s.Out)
	var line []byte
	if header != nil {
		cells = cleanRow(cells[:0], header)
		fmt.Fprintln(out, s.Paint(Bold, string(appendRow(line, cells, widths))))
	}
	for row := range rows {
		cells = cleanRow(cells[:0], row)
		line = append(appendRow(line[:0], cells, widths), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	if left := titlesOf(header, widths); len(left) > 0 {
		fmt.Fprintln(out, Truncate("not shown: "+strings.Join(left, ", "), s.Width))
	}
	return out.Flush()
}

// titlesOf returns the titles of the columns that are left out.
func titlesOf(header []string, widths []int) (out []string) {
	for j, title := range header {
		if widths[j] == dropped {
			out = append(out, title)
		}
	}
	return out
}

// cell is sanitised text with its width in columns.
type cell struct {
	text  string
	width int
}

// cleanRow appends the cells of a row.
func cleanRow(to []cell, row []string) []cell {
	for _, text := range row {
		text = Line(text)
		to = append(to, cell{text, Width(text)})
	}
	return to
}

// widen makes columns as wide as the cells of a row.
func widen(widths []int, row []cell) []int {
	for j, c := range row {
		if j == len(widths) {
			widths = append(widths, 0)
		}
		widths[j] = max(widths[j], c.width)
	}
	return widths
}

// fit shortens widths until they take at most total columns, gaps included. The other columns first become short, then
// shorter, and are then left out, in the order of omit. A short first column, usually the name, is cut only after that.
func fit(widths []int, total int, omit []int) {
	for last := len(widths) - 1; last >= 0; {
		try := slices.Clone(widths)
		over := squeeze(try, total)
		if over > 0 && len(omit) > 0 {
			widths[omit[0]] = dropped
			omit = omit[1:]
			continue
		}
		over -= shrink(&try[0], over, 1)
		shrink(&try[last], over, 1)
		copy(widths, try)
		return
	}
}

// squeeze shortens all widths, a first one of firstLeast columns not, as far as columns stay readable. It returns how many columns
// are too many.
func squeeze(widths []int, total int) (over int) {
	over = -gap - total
	for _, w := range widths {
		if w != dropped {
			over += w + gap
		}
	}
	last := len(widths) - 1
	if last == 0 {
		return over
	}
	for _, least := range []int{short, shortest} {
		over -= shrink(&widths[last], over, least)
		for over > 0 {
			widest := 1
			for j := 1; j < last; j++ {
				if widths[j] > widths[widest] {
					widest = j
				}
			}
			cut := shrink(&widths[widest], 1, least)
			if cut == 0 {
				break
			}
			over -= cut
		}
		over -= shrink(&widths[0], over, firstLeast)
	}
	return over
}

// shrink takes up to by columns from a width, but leaves at least least. It returns how many it took.
func shrink(width *int, by, least int) int {
	cut := max(0, min(by, *width-least))
	*width -= cut
	return cut
}

// appendRow appends the cells, each except the last padded to its column.
func appendRow(to []byte, row []cell, widths []int) []byte {
	for j, c := range row {
		if widths[j] == dropped {
			continue
		}
		if c.width > widths[j] {
			c.text = Truncate(c.text, widths[j])
			c.width = Width(c.text)
		}
		to = append(to, c.text...)
		if j < len(row)-1 {
			for range widths[j] - c.width + gap {
				to = append(to, ' ')
			}
		}
	}
	return bytes.TrimRight(to, " ")
}
