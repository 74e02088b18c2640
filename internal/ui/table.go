package ui

import (
	"io"
	"strings"
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
	var all [][]string
	if header != nil {
		all = append(all, header)
	}
	all = cleanCells(append(all, rows...))
	widths := columnWidths(all)
	if s.Width > 0 {
		fit(widths, s.Width)
	}
	var b strings.Builder
	for i, row := range all {
		line := formatRow(row, widths)
		if i == 0 && header != nil {
			line = string(s.Paint(Bold, line))
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

func cleanCells(rows [][]string) [][]string {
	clean := make([][]string, len(rows))
	for i, row := range rows {
		clean[i] = make([]string, len(row))
		for j, cell := range row {
			clean[i][j] = Line(cell)
		}
	}
	return clean
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], Width(cell))
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

func formatRow(row []string, widths []int) string {
	var b strings.Builder
	for j, cell := range row {
		cell = Truncate(cell, widths[j])
		b.WriteString(cell)
		if j < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[j]-Width(cell)+gap))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
