package chat

import (
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// chosen returns the answer that a key is, if all of the first question was seen.
func (s *state) chosen(k keyEvent) (string, bool) {
	if k.text == "" || s.questions[0].Free {
		return "", false
	}
	soon := s.now.Sub(s.touched) < ui.Quiet
	if soon {
		s.touched = s.now
	}
	answer, ok := s.questions[0].Judge(k.text)
	switch {
	case !ok || s.unread() > 0 && answer != "n":
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
