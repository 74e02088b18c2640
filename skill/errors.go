package skill

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is returned by the methods of a Skill after Close.
var ErrClosed = errors.New("skill is closed")

// NotFoundError says that a catalogue has no such skill and which names come near.
type NotFoundError struct {
	Name    string
	Suggest []string // nearest first, at most 3
}

// Error returns R185's text, with the nearest name when there is one.
func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("Skill '%s' not found", e.Name)
	if len(e.Suggest) > 0 {
		s += fmt.Sprintf(" (did you mean %s?)", strings.Join(quoted(e.Suggest), " or "))
	}
	return s
}

func quoted(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = "'" + s + "'"
	}
	return out
}

// BrokenError says that a skill cannot be loaded, with the problems that are the reason.
type BrokenError struct {
	Name     string
	Problems []Problem // the fatal ones
}

// Error names the skill and its first fatal problem.
func (e *BrokenError) Error() string {
	if len(e.Problems) == 0 {
		return fmt.Sprintf("skill %q cannot be loaded", e.Name)
	}
	return fmt.Sprintf("skill %q cannot be loaded: %s", e.Name, e.Problems[0].Error())
}
