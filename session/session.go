// Package session is one conversation: which skills are active and in which order. It decides;
// it runs nothing and prints nothing.
//
// Activations form a stack: the last one activated is the first that may be deactivated (R122).
// [Session.State] and [Session.Restore] carry them from one process to the next.
// A Session is safe for concurrent use.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// MaxActive is how many skills can be active at once (security 2.12).
const MaxActive = 8

// ErrNoneActive is returned by a deactivation when no skill is active (R122): "No active skills to deactivate".
//
//lint:ignore ST1005 a model reads it as it is
var ErrNoneActive = errors.New("No active skills to deactivate")

// AlreadyActiveError says that a skill is active already. Whether that is a failure is the
// caller's choice (C48).
type AlreadyActiveError struct{ Name string }

// Error returns "Skill 'x' is already active" (R122).
func (e *AlreadyActiveError) Error() string {
	return fmt.Sprintf("Skill '%s' is already active", e.Name)
}

// OrderError refuses to deactivate a skill below the top of the stack.
type OrderError struct{ Name, Top string }

// Error returns "Cannot deactivate 'a' - 'b' must be deactivated first" (R122).
func (e *OrderError) Error() string {
	return fmt.Sprintf("Cannot deactivate '%s' - '%s' must be deactivated first", e.Name, e.Top)
}

// NotActiveError says that a skill that was to be deactivated is not active.
type NotActiveError struct{ Name string }

// Error returns "Skill 'x' is not active", with '#7' for a token whose skill is not known.
func (e *NotActiveError) Error() string { return fmt.Sprintf("Skill '%s' is not active", e.Name) }

// DepthError refuses one activation too many.
type DepthError struct{ Name string }

// Error returns "Skill 'x' cannot be activated: 8 skills are active (max 8)".
func (e *DepthError) Error() string {
	return fmt.Sprintf("Skill '%s' cannot be activated: %d skills are active (max %d)", e.Name, MaxActive, MaxActive)
}

// Options configures a Session. The zero value is useful.
type Options struct {
	// Trace is told of each step when it is done, one at a time and in their order: trace.SkillActivated with the
	// message "Activated skill 'x'" (or Renewed, Restored) and an attribute "restrictions", trace.SkillDeactivated with
	// "Deactivated skill 'x'" or "Auto-deactivated skill 'x' on task completion" and how long it was active. It may use
	// the session. Of calls at the same time one tells what all of them did, so that another may return before.
	Trace trace.Tracer
	Now   func() time.Time // nil means time.Now
}

// Session is the state of one conversation.
type Session struct {
	o Options // fixed at creation

	mu     sync.Mutex
	stack  []Activation
	serial Token
	untold []event
	tells  bool // somebody is handing over untold
}

// Token names one activation. A skill that is activated again has another one, so that an old
// holder cannot end what is not its own. The zero Token names none.
type Token uint64

// Activation is one active skill.
type Activation struct {
	Token  Token
	Name   string // canonical
	Digest string // of its content when the model was last told of it, see skill.Skill.Digest; "" when it has none
	Args   string // what it was last called with
	Tools  manifest.Tools
	Since  time.Time // when it was activated
	Told   time.Time // when the model was last given its instructions
}

// New returns an empty session.
func New(o *Options) *Session {
	s := &Session{}
	if o != nil {
		s.o = *o
	}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	return s
}

// Activate puts a skill, called with args, on top of the stack. It reads the skill's files for their digest. The error
// is an *AlreadyActiveError, which comes with the token of the activation that is there, a *DepthError, skill.ErrClosed
// or ctx's: an ended context activates nothing.
func (s *Session) Activate(ctx context.Context, k *skill.Skill, args string) (Token, error) {
	a, err := activation(ctx, k, args)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.unlock()
	a.Since = s.o.Now()
	a.Told = a.Since
	return s.push(ctx, a, "Activated")
}

// Renew says that the model was given the instructions of an active skill again, because they were called with other
// arguments or have changed. Where it stands in the stack stays. The error is a *NotActiveError, skill.ErrClosed or
// ctx's.
func (s *Session) Renew(ctx context.Context, token Token, k *skill.Skill, args string) error {
	a, err := activation(ctx, k, args)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.unlock()
	i := s.index(a.Name)
	if i < 0 || s.stack[i].Token != token {
		return &NotActiveError{a.Name}
	}
	a.Token, a.Since, a.Told = token, s.stack[i].Since, s.o.Now()
	s.stack[i] = a
	s.say(ctx, a, "Renewed")
	return nil
}

// activation returns what there is to know of k. A skill that cannot be hashed has no digest. The error is ctx's or
// skill.ErrClosed.
func activation(ctx context.Context, k *skill.Skill, args string) (Activation, error) {
	digest, err := "", ctx.Err()
	if err == nil {
		digest, err = k.Digest(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return Activation{}, ctx.Err()
	case errors.Is(err, skill.ErrClosed):
		return Activation{}, err
	case err != nil:
		digest = ""
	}
	tools := k.Manifest().AllowedTools
	tools.Rules = slices.Clone(tools.Rules)
	return Activation{Name: k.Canonical(), Digest: digest, Args: args, Tools: tools}, nil
}

// push puts a on top; did is the word for it.
func (s *Session) push(ctx context.Context, a Activation, did string) (Token, error) {
	if i := s.index(a.Name); i >= 0 {
		return s.stack[i].Token, &AlreadyActiveError{a.Name}
	}
	if len(s.stack) == MaxActive {
		return 0, &DepthError{a.Name}
	}
	s.serial++
	a.Token = s.serial
	s.stack = append(s.stack, a)
	s.say(ctx, a, did)
	return a.Token, nil
}

func (s *Session) say(ctx context.Context, a Activation, did string) {
	s.tell(ctx, trace.Event{Kind: trace.SkillActivated, Skill: a.Name,
		Message: fmt.Sprintf("%s skill '%s'", did, a.Name), Attrs: []slog.Attr{slog.String("restrictions", restrictions(a.Tools))}})
}

// restrictions says what an activation allows (R186): "all tools allowed" or `allowed tools: ["Read" "Bash(git:*)"]`.
func restrictions(t manifest.Tools) string {
	if !t.Declared {
		return "all tools allowed"
	}
	return fmt.Sprintf("allowed tools: %q", t.Rules)
}

// Deactivate ends the activation that token names, which must be the top one. The error is
// ErrNoneActive, an *OrderError or a *NotActiveError.
func (s *Session) Deactivate(ctx context.Context, token Token) error {
	s.mu.Lock()
	defer s.unlock()
	if len(s.stack) == 0 {
		return ErrNoneActive
	}
	i := slices.IndexFunc(s.stack, func(a Activation) bool { return a.Token == token })
	if i < 0 {
		return &NotActiveError{fmt.Sprintf("#%d", token)}
	}
	return s.pop(ctx, i)
}

// DeactivateName ends the activation of the skill of that name, in any spelling; "" means the top
// one. The errors are those of Deactivate.
func (s *Session) DeactivateName(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.unlock()
	if len(s.stack) == 0 {
		return ErrNoneActive
	}
	if name == "" {
		return s.pop(ctx, len(s.stack)-1)
	}
	i := s.index(manifest.Canonical(name))
	if i < 0 {
		return &NotActiveError{name}
	}
	return s.pop(ctx, i)
}

// End deactivates everything, top first: the task is over (R124).
func (s *Session) End(ctx context.Context) {
	s.mu.Lock()
	defer s.unlock()
	for i := len(s.stack) - 1; i >= 0; i-- {
		s.remove(ctx, i, fmt.Sprintf("Auto-deactivated skill '%s' on task completion", s.stack[i].Name))
	}
}

// Active returns the active skills, the one activated first being first.
func (s *Session) Active() []Activation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stack)
}

// Lookup returns the activation of the skill of that name, in any spelling.
func (s *Session) Lookup(name string) (Activation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(manifest.Canonical(name))
	if i < 0 {
		return Activation{}, false
	}
	return s.stack[i], true
}

// Recent returns the names of the active skills, the last activated first, for ranking (R78).
func (s *Session) Recent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.stack))
	for _, a := range slices.Backward(s.stack) {
		out = append(out, a.Name)
	}
	return out
}

func (s *Session) index(name string) int {
	return slices.IndexFunc(s.stack, func(a Activation) bool { return a.Name == name })
}

func (s *Session) pop(ctx context.Context, i int) error {
	if top := len(s.stack) - 1; i != top {
		return &OrderError{s.stack[i].Name, s.stack[top].Name}
	}
	s.remove(ctx, i, fmt.Sprintf("Deactivated skill '%s'", s.stack[i].Name))
	return nil
}

func (s *Session) remove(ctx context.Context, i int, msg string) {
	a := s.stack[i]
	s.stack = s.stack[:i]
	s.tell(ctx, trace.Event{Kind: trace.SkillDeactivated, Skill: a.Name,
		Message: msg, Duration: s.o.Now().Sub(a.Since)})
}
