package ui

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"
	"slices"
)

// Columns stand gap spaces apart. In a terminal the last one gets at least minLast columns where there are so many.
const (
	gap     = 2
	minLast = 20
)

// Table writes rows in aligned columns to Out, under a header unless that is nil. Every cell is sanitised as one line.
//
// In a terminal no row is longer than a line: the last column, by custom the description, is cut with "..." first and
// the widest of the others after it. Elsewhere nothing is cut. Rows may have different lengths.
func (s *Streams) Table(header []string, rows [][]string) error {
	return s.TableOf(header, slices.Values(rows))
}

// TableOf is Table for rows that are made when they are asked for: twice, the first time to be measured. A row may lie
// in the memory of the one before.
func (s *Streams) TableOf(header []string, rows iter.Seq[[]string]) error {
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
		fit(widths, s.Width)
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
	return out.Flush()
}

// cell is sanitised text and the columns that it takes.
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

// fit shortens widths until they and the gaps between them take at most total columns, or nothing can give any more.
func fit(widths []int, total int) {
	if len(widths) == 0 {
		return
	}
	over := gap*(len(widths)-1) - total
	for _, w := range widths {
		over += w
	}
	last := len(widths) - 1
	over -= shrink(&widths[last], over, minLast)
	for over > 0 {
		widest := 0
		for j, w := range widths[:last] {
			if w > widths[widest] {
				widest = j
			}
		}
		cut := shrink(&widths[widest], 1, 4)
		if cut == 0 {
			break
		}
		over -= cut
	}
	shrink(&widths[last], over, 1)
}

// shrink takes up to by columns from a width that keeps at least least, and returns how many it took.
func shrink(width *int, by, least int) int {
	cut := max(0, min(by, *width-least))
	*width -= cut
	return cut
}

// appendRow appends the cells, padded but for the last.
func appendRow(to []byte, row []cell, widths []int) []byte {
	for j, c := range row {
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
