package ui

import (
	"bufio"
	"bytes"
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
	all := make([][]cell, 0, len(rows)+1)
	if header != nil {
		all = append(all, cleanRow(header))
	}
	for _, row := range rows {
		all = append(all, cleanRow(row))
	}
	widths := columnWidths(all)
	if s.Width > 0 {
		fit(widths, s.Width)
	}
	out := bufio.NewWriter(s.Out)
	var line []byte
	for i, row := range all {
		line = appendRow(line[:0], row, widths)
		if i == 0 && header != nil {
			line = append(line[:0], s.Paint(Bold, string(line))...)
		}
		line = append(line, '\n')
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

func cleanRow(row []string) []cell {
	cells := make([]cell, len(row))
	for j, text := range row {
		text = Line(text)
		cells[j] = cell{text, Width(text)}
	}
	return cells
}

func columnWidths(rows [][]cell) []int {
	var widths []int
	for _, row := range rows {
		for j, c := range row {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], c.width)
		}
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
