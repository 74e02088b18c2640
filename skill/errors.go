package skill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// ErrClosed is returned by the methods of a Skill after Close.
var ErrClosed = errors.New("skill is closed")

// ErrNoFolder is the error for a skill that has no real folder on disk where one is needed: its scripts cannot run, and
// it cannot be sealed. Skills of an FS source with a cache have a folder, and so do skills whose Tree is a Locator.
var ErrNoFolder = errors.New("no folder on disk")

// ErrChanged is the error for a skill whose files are no longer those that its Digest covers.
var ErrChanged = errors.New("files have changed since the digest was computed")

func noFolder(name string) error {
	return fmt.Errorf("skill %q has %w: its source has no folder and no cache for it", name, ErrNoFolder)
}

// NotFoundError is the error for a name that no skill in the catalogue has. It suggests similar names.
type NotFoundError struct {
	Name    string
	Suggest []string // nearest first, at most 3
}

// Error returns a text such as "Skill 'x' not found (did you mean 'y' or 'z'?)". It omits the question if no name is
// similar.
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

// BrokenError is the error for a skill that cannot be loaded. It has the problems that are the reason. It unwraps to
// the error of the file system or the source: errors.Is(err, fs.ErrNotExist) reports a skill that no longer exists.
type BrokenError struct {
	Name     string
	Problems []manifest.Problem // the fatal ones
	Err      error              // nil if the manifest was read but cannot be used
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

// NotAdmittedError is the error for a skill that Options.Admit does not admit.
type NotAdmittedError struct {
	Name string
	Err  error // that of Admit
}

// Unwrap returns the error of Options.Admit.
func (e *NotAdmittedError) Unwrap() error { return e.Err }

// Error names the skill and says why it is not used.
func (e *NotAdmittedError) Error() string {
	return fmt.Sprintf("skill %q is not used: %v", e.Name, e.Err)
}
