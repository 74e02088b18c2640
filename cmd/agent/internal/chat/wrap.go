package chat

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// rowsOf returns foreign text of several lines in rows. It neither begins nor ends with an empty one.
func rowsOf(text string, width int) (rows []string) {
	some := 0
	for line := range strings.SplitSeq(ui.Prose(text), "\n") {
		if width > 0 { // elsewhere tabs stay: a pipe gets the text as it is
			line, _ = ui.Untab(line, 0)
		}
		for _, r := range markup.Rows(line, width) {
			if r = strings.TrimRight(r, " \t"); r != "" || len(rows) > 0 {
				rows = append(rows, r)
			}
			if r != "" {
				some = len(rows)
			}
		}
	}
	return rows[:some]
}

// cut shortens one sanitised line to at most width columns. A line that is cut ends in an ellipsis.
func cut(s string, width int) string {
	if ui.Columns(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for s != "" {
		first, w := ui.Cluster(s)
		if used+w > width-1 {
			break
		}
		b.WriteString(first)
		used += w
		s = s[len(first):]
	}
	if width > 0 {
		b.WriteString("…")
	}
	return b.String()
}
