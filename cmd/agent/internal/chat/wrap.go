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
