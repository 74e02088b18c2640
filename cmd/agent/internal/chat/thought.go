package chat

import (
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/markup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

const (
	mostThought = 3       // rows of thoughts on the screen
	maxThought  = 2 << 10 // bytes of thoughts that are kept
)

// think takes the next piece of the thoughts of the model.
func (s *state) think(text string) {
	s.thought += text
	if n := len(s.thought) - maxThought; n > 0 {
		s.thought = strings.ToValidUTF8(s.thought[n:], "")
	}
}

// thoughtRows returns the last rows of the thoughts of the model, or none once it answers.
func (s *state) thoughtRows() []string {
	var rows []string
	for line := range strings.Lines(s.thought) {
		if line = strings.TrimSpace(line); line != "" {
			rows = append(rows, markup.Rows(ui.Line(line), max(s.room()-2, 1))...)
		}
	}
	rows = rows[max(len(rows)-mostThought, 0):]
	for i, r := range rows {
		rows[i] = "  " + s.paint.dim(r)
	}
	return rows
}
