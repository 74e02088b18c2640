package session

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/skill"
)

// State is the part of a session that outlives its process. As JSON it is
// {"active":[{"name","digest","args","since","told"}…]}, in the order of activation. It does not hold what a skill
// allows: that comes from the skill's manifest, whose digest must be the same.
type State struct {
	Active []Saved `json:"active"`
}

// Saved is one active skill of a State.
type Saved struct {
	Name   string    `json:"name"`   // canonical
	Digest string    `json:"digest"` // a skill without one cannot be restored
	Args   string    `json:"args,omitempty"`
	Since  time.Time `json:"since"`
	Told   time.Time `json:"told"`
}

// State returns what Restore needs to activate the same skills again.
func (s *Session) State() State {
	st := State{Active: []Saved{}}
	for _, a := range s.Active() {
		st.Active = append(st.Active, Saved{a.Name, a.Digest, a.Args, a.Since, a.Told})
	}
	return st
}

// Outcome is the result of restoring one skill of a State.
type Outcome struct {
	Name string
	// Err is nil if the skill is active again. Otherwise it is a *skill.NotFoundError, a *skill.BrokenError, an *Error, or the
	// error of ctx.
	Err error
}

// Restore activates the skills of st in their old order, as c has them now, and returns the outcome of each. A skill that
// is gone, switched off or changed is not activated, and the others are.
func (s *Session) Restore(ctx context.Context, c *skill.Catalog, st State) []Outcome {
	out := make([]Outcome, len(st.Active))
	for i, was := range st.Active {
		out[i] = Outcome{was.Name, s.restore(ctx, c, was)}
	}
	return out
}

func (s *Session) restore(ctx context.Context, c *skill.Catalog, was Saved) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e, err := c.Lookup(was.Name)
	if err != nil {
		return err
	}
	// a user may have activated a skill that is hidden from models
	if state := e.State(); state != skill.StateEnabled && state != skill.StateHidden && state != skill.StateBroken {
		return &Error{"restore", e.Canonical(), fmt.Errorf("%w: it is %s: %s", errUnavailable, state, e.Reason())}
	}
	k, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	a, err := s.activation(ctx, "restore", k, was.Args)
	if err != nil {
		return err
	}
	switch {
	case a.Digest == "" || was.Digest == "":
		return &Error{"restore", a.Name, errNoDigest}
	case a.Digest != was.Digest:
		return &Error{"restore", a.Name, fmt.Errorf("%w (digest %s, now %s)", errChanged, was.Digest, a.Digest)}
	}
	a.Since, a.Told = was.Since, was.Told
	s.mu.Lock()
	defer s.unlock()
	_, err = s.push(ctx, a, "restore", "Restored")
	return err
}
