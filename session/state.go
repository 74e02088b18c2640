package session

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/skill"
)

// State is what of a session outlives its process. As JSON it is
// {"active":[{"name","digest","args","since","told"}…]}, the skill activated first being first. What a skill allows is
// not in it: that comes from the skill's own manifest, under the same digest.
type State struct {
	Active []Saved `json:"active"`
}

// Saved is one active skill of a State.
type Saved struct {
	Name   string    `json:"name"`   // canonical
	Digest string    `json:"digest"` // "" cannot be restored
	Args   string    `json:"args,omitempty"`
	Since  time.Time `json:"since"`
	Told   time.Time `json:"told"`
}

// State returns what Restore needs to bring the active skills back.
func (s *Session) State() State {
	st := State{Active: []Saved{}}
	for _, a := range s.Active() {
		st.Active = append(st.Active, Saved{a.Name, a.Digest, a.Args, a.Since, a.Told})
	}
	return st
}

// ChangedError says that a skill has not the content any more that was active: what it said, and what it allows, may
// be something else now.
type ChangedError struct {
	Name     string
	Was, Now string // digests, "" when there is none
}

// Error names the skill, both digests and what to do.
func (e *ChangedError) Error() string {
	if e.Was == "" || e.Now == "" {
		return fmt.Sprintf("skill %q has no digest, so nobody can tell whether it is still the same: activate it again", e.Name)
	}
	return fmt.Sprintf("skill %q has changed since it was active (digest %s, now %s): activate it again", e.Name, e.Was, e.Now)
}

// OffError says that a skill cannot come back because it counts no more: it was switched off, or is not allowed here,
// or a command that it requires is missing.
type OffError struct {
	Name   string
	State  skill.State
	Reason string // the catalogue's, as of skill.Entry.Reason
}

// Error names the skill, its state and why.
func (e *OffError) Error() string {
	return fmt.Sprintf("skill %q is %s: %s", e.Name, e.State, e.Reason)
}

// Outcome says what became of one skill of a State.
type Outcome struct {
	Name string
	// Err is nil when the skill is active again. Else it is a *skill.NotFoundError, a *skill.BrokenError, a
	// *ChangedError, an *OffError, an *AlreadyActiveError, a *DepthError or ctx's.
	Err error
}

// Restore activates the skills of st as c has them now, in their old order, and returns what became of each. One that
// is gone, switched off or changed does not come back, and takes no other down with it.
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
	// a person may have activated what is hidden from models
	if state := e.State(); state != skill.StateEnabled && state != skill.StateHidden && state != skill.StateBroken {
		return &OffError{Name: e.Name(), State: state, Reason: e.Reason()}
	}
	k, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer k.Close()
	a, err := activation(ctx, k, was.Args)
	if err != nil {
		return err
	}
	if a.Digest == "" || a.Digest != was.Digest {
		return &ChangedError{Name: a.Name, Was: was.Digest, Now: a.Digest}
	}
	a.Since, a.Told = was.Since, was.Told
	s.mu.Lock()
	defer s.unlock()
	_, err = s.push(ctx, a, "Restored")
	return err
}
