package session

import (
	"errors"
	"fmt"
)

// Error is a step that the session refused. Its text is complete and starts with a capital letter, because a model reads
// it unchanged: "Skill 'x' is already active".
type Error struct {
	Op    string // activate, renew, deactivate or restore
	Skill string // canonical name, the name as given if no such skill is active, or '#7' for an unknown token
	Err   error  // one of the sentinels of this package, an error that wraps one, or skill.ErrClosed
}

// The causes of an Error. Each is the last part of its text.
var (
	ErrActive    = errors.New("is already active")
	errNotActive = errors.New("is not active")
	ErrTooMany   = fmt.Errorf("%d skills are active (max %d)", MaxActive, MaxActive)
	ErrNotTop    = errors.New("must be deactivated first") // wrapped with the name of the skill on top
	//lint:ignore ST1005 a model reads the text unchanged
	ErrNoneActive  = errors.New("No active skills to deactivate")
	errChanged     = errors.New("has changed since it was active") // what it says and allows may be different now
	errNoDigest    = errors.New("has no digest, so it may have changed since it was active")
	errUnavailable = errors.New("cannot be restored") // it is switched off, not allowed here, or lacks a requirement
)

// Error returns the text of the error.
func (e *Error) Error() string {
	switch {
	case errors.Is(e.Err, ErrNoneActive):
		return e.Err.Error()
	case errors.Is(e.Err, ErrNotTop):
		return fmt.Sprintf("Cannot deactivate '%s' - %v", e.Skill, e.Err)
	}
	for _, about := range []error{ErrActive, errNotActive, errChanged, errNoDigest, errUnavailable} {
		if errors.Is(e.Err, about) {
			return fmt.Sprintf("Skill '%s' %v", e.Skill, e.Err)
		}
	}
	return fmt.Sprintf("Failed to %s skill '%s': %v", e.Op, e.Skill, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
