// Package session is one conversation: which skills are active and in which order. It decides;
// it runs nothing and prints nothing.
//
// Activations form a stack: the last one activated is the first that may be deactivated (R122).
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
	"github.com/agent-base/agent-base/trace"
)

// MaxActive is how many skills can be active at once (security 2.12).
const MaxActive = 8

// ErrNoneActive is returned by a deactivation when no skill is active (R122).
//
//lint:ignore ST1005 the text is R122's, for a model to read
var ErrNoneActive = errors.New("No active skills to deactivate")

// AlreadyActiveError says that a skill is active already. Whether that is a failure is the
// caller's choice (C48).
type AlreadyActiveError struct{ Name string }

// Error returns R122's text.
func (e *AlreadyActiveError) Error() string {
	return fmt.Sprintf("Skill '%s' is already active", e.Name)
}

// OrderError refuses to deactivate a skill below the top of the stack.
type OrderError struct{ Name, Top string }

// Error returns R122's text.
func (e *OrderError) Error() string {
	return fmt.Sprintf("Cannot deactivate '%s' - '%s' must be deactivated first", e.Name, e.Top)
}

// NotActiveError says that a skill that was to be deactivated is not active.
type NotActiveError struct{ Name string }

// Error names the skill.
func (e *NotActiveError) Error() string { return fmt.Sprintf("Skill '%s' is not active", e.Name) }

// DepthError refuses one activation too many.
type DepthError struct{ Name string }

// Error names the skill and the limit.
func (e *DepthError) Error() string {
	return fmt.Sprintf("Skill '%s' cannot be activated: %d skills are active (max %d)", e.Name, MaxActive, MaxActive)
}

// Options configures a Session. The zero value is useful.
type Options struct {
	Trace trace.Tracer
	Now   func() time.Time // nil means time.Now
}

// Session is the state of one conversation.
type Session struct {
	o Options // fixed at creation

	mu     sync.Mutex
	stack  []Activation
	serial Token
}

// Token names one activation. A skill that is activated again has another one, so that an old
// holder cannot end what is not its own. The zero Token names none.
type Token uint64

// Activation is one active skill.
type Activation struct {
	Token  Token
	Name   string // canonical
	Digest string // of its content when it was activated, "" when that is not known
	Tools  skill.Tools
	Since  time.Time
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

// Activate puts a skill on top of the stack. The error is an *AlreadyActiveError, which comes with
// the token of the activation that is there, or a *DepthError.
func (s *Session) Activate(ctx context.Context, k *skill.Skill) (Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := k.Canonical()
	if i := s.index(name); i >= 0 {
		return s.stack[i].Token, &AlreadyActiveError{name}
	}
	if len(s.stack) == MaxActive {
		return 0, &DepthError{name}
	}
	s.serial++
	a := Activation{Token: s.serial, Name: name, Tools: k.Manifest().AllowedTools, Since: s.o.Now()}
	a.Tools.Rules = slices.Clone(a.Tools.Rules)
	s.stack = append(s.stack, a)
	trace.Emit(ctx, s.o.Trace, trace.Event{Kind: trace.SkillActivated, Skill: name,
		Message: fmt.Sprintf("Activated skill '%s'", name), Attrs: []slog.Attr{slog.String("restrictions", restrictions(a.Tools))}})
	return a.Token, nil
}

// restrictions is R186's summary of what an activation allows.
func restrictions(t skill.Tools) string {
	if !t.Declared {
		return "all tools allowed"
	}
	return fmt.Sprintf("allowed tools: %q", t.Rules)
}

// Deactivate ends the activation that token names, which must be the top one. The error is
// ErrNoneActive, an *OrderError or a *NotActiveError.
func (s *Session) Deactivate(ctx context.Context, token Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	defer s.mu.Unlock()
	if len(s.stack) == 0 {
		return ErrNoneActive
	}
	if name == "" {
		return s.pop(ctx, len(s.stack)-1)
	}
	i := s.index(skill.Canonical(name))
	if i < 0 {
		return &NotActiveError{name}
	}
	return s.pop(ctx, i)
}

// End deactivates everything, top first: the task is over (R124).
func (s *Session) End(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	trace.Emit(ctx, s.o.Trace, trace.Event{Kind: trace.SkillDeactivated, Skill: a.Name,
		Message: msg, Duration: s.o.Now().Sub(a.Since)})
}
