package chat

import (
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// mostQueued is how many prompts wait at most, and mostQueueRows how many of them are shown.
const (
	mostQueued    = 20
	mostQueueRows = 4
)

// enqueue keeps what was typed while the agent works. It is sent when the work is done.
func (s *state) enqueue(text string) []effect {
	if len(s.queue) == mostQueued {
		s.hint = fmt.Sprintf("%d prompts wait already: Esc stops the work", mostQueued)
		return nil
	}
	s.queue = append(s.queue, text)
	s.input.set("")
	s.past.add(text)
	return []effect{remember{text}}
}

// withdrawPrompt puts the prompt that waits last back into the empty input, to be edited or deleted. It reports whether one waits.
func (s *state) withdrawPrompt() bool {
	n := len(s.queue) - 1
	if n < 0 || s.input.text != "" {
		return false
	}
	s.input.set(s.refold(s.queue[n]))
	s.queue = s.queue[:n]
	return true
}

// sendQueued sends the prompt that waits first.
func (s *state) sendQueued() []effect {
	if len(s.queue) == 0 || s.leaving {
		return nil
	}
	next := s.queue[0]
	s.queue = s.queue[1:]
	return s.submit(next)
}

// holdQueued puts what waits into the input, before what is there: after a stop or an error the user decides about it.
func (s *state) holdQueued() {
	if len(s.queue) == 0 {
		return
	}
	texts := s.queue
	if s.input.text != "" {
		texts = append(texts, s.input.text)
	}
	s.input.set(s.refold(strings.Join(texts, "\n\n")))
	s.queue, s.popup = nil, nil
	s.hint = "what was queued is in the input: Enter sends it"
}

// queueRows shows what waits, in a row each.
func (s *state) queueRows() []string {
	var rows []string
	for i, text := range s.queue {
		if i == mostQueueRows-1 && len(s.queue) > mostQueueRows {
			rows = append(rows, s.paint.dim(ui.Cut(fmt.Sprintf("  and %d more", len(s.queue)-i), s.room())))
			break
		}
		rows = append(rows, s.paint.dim(ui.Cut("  queued: "+ui.Line(s.refold(text)), s.room())))
	}
	return rows
}

// escape is Esc: it stops the work. With nothing to stop and nothing typed, a second one goes back to an earlier prompt.
func (s *state) escape(again bool) []effect {
	switch {
	case s.busy:
		return s.interrupt()
	case s.input.text != "":
		s.hint = "Ctrl-C empties the input"
	case !s.has("back"):
	case again:
		return s.submit("/back")
	default:
		s.escaped, s.hint = true, "Esc again goes back to an earlier prompt"
	}
	return nil
}
