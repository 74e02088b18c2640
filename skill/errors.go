package skill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// ErrClosed is returned by the methods of a Skill after Close.
var ErrClosed = errors.New("skill is closed")

// ErrNoFolder is what is wrong with a skill that lies nowhere on disk where a real folder is needed: its scripts cannot
// run, and it cannot be sealed. An FS source with a cache, and a Tree that is a Locator, have one.
var ErrNoFolder = errors.New("no folder on disk")

func noFolder(name string) error { return fmt.Errorf("skill %q has %w", name, ErrNoFolder) }

// NotFoundError says that a catalogue has no such skill and which names come near.
type NotFoundError struct {
	Name    string
	Suggest []string // nearest first, at most 3
}

// Error returns such as "Skill 'x' not found (did you mean 'y' or 'z'?)", without the question where nothing comes near.
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

// BrokenError says that a skill cannot be loaded, with the problems that are the reason. It unwraps to what the file
// system or the source said, so that errors.Is(err, fs.ErrNotExist) tells a skill that is gone.
type BrokenError struct {
	Name     string
	Problems []manifest.Problem // the fatal ones
	Err      error              // nil when the manifest was read, and cannot be used
}

// Unwrap returns the cause.
func (e *BrokenError) Unwrap() error { return e.Err }

// Error names the skill and its first fatal problem.
func (e *BrokenError) Error() string {
	if len(e.Problems) == 0 {
		return fmt.Sprintf("skill %q cannot be loaded", e.Name)
	}
	return fmt.Sprintf("skill %q cannot be loaded: %s", e.Name, e.Problems[0].Error())
}
