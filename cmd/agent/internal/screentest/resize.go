package screentest

import (
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// Resize gives the screen another size. A terminal that flows, as most do, breaks rows that are too long and joins them again when there is
// room. Another one, such as xterm, cuts them. The row of the cursor stays on the screen, and rows come back from the scrollback if there
// is room for them.
func (v *Screen) Resize(width, height int, flows bool) {
	rows, y := v.Rows(), len(v.above)+v.y
	for len(rows) > y+1 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	goesOn, x := v.goesOn, v.x
	*v = Screen{width: width, height: height, goesOn: map[int]bool{}, last: v.last, rest: v.rest, unknown: v.unknown}
	var out []string
	toX, toY := 0, 0
	for i := 0; i < len(rows); i++ {
		line, at := rows[i], -1
		if i == y {
			at = x
		}
		for ; flows && goesOn[i] && i+1 < len(rows); i++ {
			if i+1 == y {
				at = ui.Columns(line) + x
			}
			line += rows[i+1]
		}
		parts := chop(line, width)
		if !flows {
			parts = parts[:1]
		}
		if at >= 0 {
			toX, toY = at, len(out)
			for flows && toX >= width {
				toX, toY = toX-width, toY+1
			}
			for len(parts) <= toY-len(out) {
				parts = append(parts, "")
			}
		}
		for j, part := range parts {
			if j+1 < len(parts) {
				v.goesOn[len(out)] = true
			}
			out = append(out, part)
		}
	}
	first := min(max(len(out)-height, 0), toY)
	v.above = out[:first:first]
	for _, row := range out[first:min(first+height, len(out))] {
		v.cells = append(v.cells, v.cellsOf(row))
	}
	for len(v.cells) < height {
		v.cells = append(v.cells, v.blank())
	}
	v.x, v.y = min(toX, width-1), toY-first
}

// shift moves the marks of goesOn for the rows of the screen from y on by some rows, down or up. Those that leave the screen are lost.
func (v *Screen) shift(y, by int) {
	moved := map[int]bool{}
	for i := range v.goesOn {
		switch at := i - len(v.above); {
		case at < y:
			moved[i] = true
		case at+by >= y && at+by < v.height:
			moved[i+by] = true
		}
	}
	v.goesOn = moved
}

// chop breaks a row into parts of a width.
func chop(row string, width int) []string {
	parts, used := []string{""}, 0
	for row != "" {
		first, w := ui.Cluster(row)
		if used+w > width {
			parts, used = append(parts, ""), 0
		}
		parts[len(parts)-1] += first
		used += w
		row = row[len(first):]
	}
	return parts
}

// cellsOf returns the cells of a row that fits the screen.
func (v *Screen) cellsOf(row string) []string {
	cells := v.blank()
	for x := 0; row != ""; {
		first, w := ui.Cluster(row)
		cells[x] = first
		for i := 1; i < w; i++ {
			cells[x+i] = ""
		}
		x += w
		row = row[len(first):]
	}
	return cells
}
