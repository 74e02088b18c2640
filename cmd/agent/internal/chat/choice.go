package chat

import (
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// quiet is how long no key may have come before a key answers a question. Whoever is typing when a question appears
// answers nothing.
const quiet = 300 * time.Millisecond

// chosen returns the answer that a key is, if the first question has choices and all of it was seen.
func (s *state) chosen(k keyEvent) (string, bool) {
	q, answer := s.questions[0], strings.ToLower(k.text)
	if len(q.Choices) == 0 || k.text == "" {
		return "", false
	}
	soon := s.now.Sub(s.touched) < quiet
	if soon {
		s.touched = s.now
	}
	switch {
	case q.Label(answer) == "" || s.unread() > 0 && answer != "n":
		return "", false
	case soon:
		s.hint = "that key came too soon: press it again"
		return "", false
	}
	return answer, true
}

// style shows a text in colours.
type style func(string) string

// styles returns how each row of a question's details is shown.
func (s *state) styles(q *question, rows []string) []style {
	out := make([]style, len(rows))
	var kinds []ui.Style
	if q.Diff {
		kinds = ui.DiffStyles(rows)
	}
	for i := range out {
		out[i] = plainStyle
		if q.Diff && kinds[i] != "" {
			out[i] = func(text string) string { return s.paint.sgr(string(kinds[i]), text) }
		}
	}
	return out
}
