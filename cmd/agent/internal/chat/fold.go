package chat

import (
	"fmt"
	"strings"
)

// A paste that is longer than this is folded: the input shows how long it is, and what is sent has all of it.
const (
	mostLines = 10
	mostBytes = 2000
)

// fold returns what the input shows of a paste.
func (s *state) fold(text string) string {
	lines := strings.Count(text, "\n") + 1
	if lines <= mostLines && len(text) <= mostBytes {
		return text
	}
	size := Number(lines) + " lines"
	if lines == 1 {
		size = Number(len(text)) + " bytes"
	}
	mark := fmt.Sprintf("[paste %d: %s]", s.numbered("[paste ")+1, size)
	s.pastes = append(s.pastes, [2]string{mark, text})
	return mark
}

// numbered counts the marks that begin so: each kind of mark has its own numbers.
func (s *state) numbered(begin string) (n int) {
	for _, p := range s.pastes {
		if strings.HasPrefix(p[0], begin) {
			n++
		}
	}
	return n
}

// unfold puts the pastes back into what is sent.
func (s *state) unfold(text string) string {
	for _, p := range s.pastes {
		text = strings.Replace(text, p[0], p[1], 1)
	}
	return text
}

// refold returns a text as the input showed it.
func (s *state) refold(text string) string {
	for _, p := range s.pastes {
		text = strings.Replace(text, p[1], p[0], 1)
	}
	return text
}
