package chat

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// ask takes a question. Several wait for their turn: only the first is on the screen, so that an answer is never meant
// for another one.
func (s *state) ask(q *question) {
	if s.width == 0 || !s.busy {
		q.answer <- false
		return
	}
	if s.questions = append(s.questions, q); len(s.questions) == 1 {
		s.pose()
	}
}

// pose prints the first question. Its details are printed whole: nothing that is approved is out of sight.
func (s *state) pose() {
	if len(s.questions) == 0 {
		return
	}
	q := s.questions[0]
	s.begin(notices)
	mark := s.paint.yellow("? ")
	for i, text := range append([]string{q.text}, q.details...) {
		for line := range strings.SplitSeq(ui.Text(text), "\n") {
			for _, r := range wrap(line, max(s.room()-2, 1)) {
				if i == 0 {
					r = s.paint.bold(r)
				}
				s.out = append(s.out, mark+r)
				mark = "  "
			}
		}
	}
}

// withdraw takes a question back that nobody waits for any more, with no as its answer.
func (s *state) withdraw(q *question) {
	i := slices.Index(s.questions, q)
	if i < 0 {
		return
	}
	s.questions = slices.Delete(s.questions, i, i+1)
	q.answer <- false
	if i == 0 {
		s.reply = editor{}
		s.begin(notices)
		s.out = append(s.out, "  "+s.paint.yellow("withdrawn"))
		s.pose()
	}
}

// decide answers the first question.
func (s *state) decide(yes bool) {
	q := s.questions[0]
	s.questions = s.questions[1:]
	s.reply = editor{}
	q.answer <- yes
	s.begin(notices)
	if yes {
		s.out = append(s.out, "  "+s.paint.green("yes"))
	} else {
		s.out = append(s.out, "  "+s.paint.red("no"))
	}
	s.pose()
}
