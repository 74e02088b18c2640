// Package session holds the state of one conversation: which skills are active, in which order, and what they allow. It
// decides which activations and which calls of tools are allowed; it runs nothing and prints nothing.
//
// Activations form a stack: only the skill that was activated last can be deactivated. A skill whose manifest has
// allowed-tools or disallowed-tools restricts the model as long as it is active, see [Session.Check]. A call must be
// allowed by all active skills, so activating a skill never allows more, except under PolicyTop. [Session.State] and [Session.Restore] carry the
// stack from one process to the next.
//
// A step that the rules of the stack refuse returns an [*Error]. A Session is safe for concurrent use.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
)

// MaxActive is how many skills can be active at once.
const MaxActive = 8

// Options configures a Session. The zero value is useful.
type Options struct {
	// Trace receives each step after it happened, one at a time and in order; nil traces nothing. The steps are
	//
	//   - trace.SkillActivated, "Activated skill 'x'" (or Renewed, Restored), with the attribute trace.AttrAllowedTools, or
	//     "restrictions" with the value "all tools allowed";
	//   - what Check decides, see there;
	//   - trace.SkillDeactivated, "Deactivated skill 'x'" or "Auto-deactivated skill 'x' on task completion", with the time that
	//     the skill was active.
	//
	// The tracer may use the session. If several calls run at the same time, one of them reports the steps of all, and the
	// others may return before their steps are reported.
	Trace trace.Tracer
	Now   func() time.Time // nil means time.Now

	Enforce Enforce     // "" means EnforceOn
	Policy  StackPolicy // "" means PolicyIntersection
	// Within restricts the session from its beginning to its end, see Session.Sub.
	Within Restriction
	// HoldAll holds the restriction of every activation, see Session.Hold.
	HoldAll bool
}

// Session is the state of one conversation. The zero value is an empty one with the zero Options.
type Session struct {
	o Options // fixed at creation

	mu        sync.Mutex
	rules     func(context.Context, *skill.Skill) allow.Options // see SetRules
	stack     []Activation
	limits    []limit      // of held activations that ended or were renewed
	ended     []Activation // that were held
	serial    Token
	pending   []func() // report steps to the tracer
	reporting bool     // a call is running pending
}

// Token identifies one activation. A skill that is activated again gets a new token, so the holder of an old one cannot
// end the new activation. It is of use only with the Session that returned it, since each counts its own. The zero Token identifies none.
type Token uint64

// Activation is one active skill.
type Activation struct {
	Token  Token
	Name   string          // canonical
	Digest string          // of the content that the model was last given, see skill.Skill.Digest; "" if there is none
	Server string          // label of the MCP server that serves it, "" for others
	Args   string          // arguments of the last call
	Tools  manifest.Tools  // allowed-tools of the manifest; do not change its Rules
	Hooks  []manifest.Hook // of the manifest; do not change them
	Since  time.Time       // when it was activated
	Told   time.Time       // when the model was last given the instructions

	sees  []sight // what each of Hooks sees
	limit *limit  // what Tools and the manifest's disallowed tools allow; nil for everything
	held  bool    // limit stays until Release
	path  string  // where the manifest is on this machine
	layer string  // the place of the skill, see skill.ID; "" if that is not known
}

// sight is what a hook sees: calls that both matchers are about.
type sight struct{ matcher, condition hook.Matcher }

// New returns an empty session.
func New(o *Options) *Session {
	s := &Session{}
	if o != nil {
		s.o = *o
	}
	return s
}

func (s *Session) clock() time.Time {
	if s.o.Now == nil {
		return time.Now()
	}
	return s.o.Now()
}

// SetRules sets the function that says what the rules of a skill refer to, such as folders and scripts. It is called when a
// skill with rules is activated, renewed or restored, perhaps by several goroutines. Without it the zero allow.Options hold: rules
// about scripts and relative paths then match nothing. A skilltool.Kit calls SetRules for its session, so make it before Restore.
func (s *Session) SetRules(rules func(context.Context, *skill.Skill) allow.Options) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = rules
}

// Activate puts a skill, called with args, on top of the stack. It reads the skill's files to compute their digest. The
// error is an *Error with ErrActive, ErrTooMany or skill.ErrClosed, or the error of ctx; nothing is activated then. With
// ErrActive the token is that of the existing activation.
func (s *Session) Activate(ctx context.Context, k *skill.Skill, args string) (Token, error) {
	a, err := s.activation(ctx, "activate", k, args)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.unlock()
	a.Since = s.clock()
	a.Told = a.Since
	return s.push(ctx, a, "activate", "Activated")
}

// Admits returns the error with which Activate would refuse a skill now, given in any spelling: an *Error with ErrActive or
// ErrTooMany. It is for callers that have something to do before they activate.
func (s *Session) Admits(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.admits(manifest.Canonical(name), "activate")
	return err
}

// admits returns an error if the stack does not take a skill, with the token of its activation if it has one.
func (s *Session) admits(name, op string) (Token, error) {
	if i := s.index(name); i >= 0 {
		return s.stack[i].Token, &Error{op, name, ErrActive}
	}
	if len(s.stack) == MaxActive {
		return 0, &Error{op, name, ErrTooMany}
	}
	return 0, nil
}

// Renew records that the model was given the instructions of an active skill again, because it was called with other
// arguments or its content changed. Its position in the stack stays. The error is an *Error, which wraps skill.ErrClosed
// for a closed skill, or the error of ctx.
func (s *Session) Renew(ctx context.Context, token Token, k *skill.Skill, args string) error {
	a, err := s.activation(ctx, "renew", k, args)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.unlock()
	i := s.index(a.Name)
	if i < 0 || s.stack[i].Token != token {
		return &Error{"renew", a.Name, errNotActive}
	}
	s.keep(&s.stack[i])
	a.Token, a.Since, a.Told, a.held = token, s.stack[i].Since, s.clock(), s.stack[i].held
	s.stack[i] = a
	s.say(ctx, a, "Renewed")
	return nil
}

// activation describes k. A skill that cannot be hashed has no digest. The error is that of ctx,
// or an *Error with skill.ErrClosed.
func (s *Session) activation(ctx context.Context, op string, k *skill.Skill, args string) (Activation, error) {
	digest, err := "", ctx.Err()
	if err == nil {
		digest, err = k.Digest(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return Activation{}, ctx.Err()
	case errors.Is(err, skill.ErrClosed):
		return Activation{}, &Error{op, k.Canonical(), skill.ErrClosed}
	case err != nil:
		digest = ""
	}
	m := k.Manifest()
	if !k.Heeded(ctx) {
		m = &manifest.Manifest{}
	}
	tools := m.AllowedTools
	tools.Rules = slices.Clone(tools.Rules)
	a := Activation{Name: k.Canonical(), Digest: digest, Server: k.Entry().Server(), Args: args, Tools: tools, Hooks: slices.Clone(m.Hooks), path: k.Entry().Where()}
	if a.layer, _ = k.Entry().Place(ctx); ctx.Err() != nil { // "" without a place
		return Activation{}, ctx.Err()
	}
	if !tools.Declared && len(m.DisallowedTools.Rules) == 0 && len(a.Hooks) == 0 {
		return a, nil
	}
	o := s.refersTo(ctx, k)
	a.limit = newLimit(a.Name, m, o)
	for _, h := range a.Hooks {
		var v sight
		v.matcher, _ = hook.ParseMatcher(h.Matcher, &o) // with an error it is about all calls
		v.condition, _ = hook.ParseMatcher(h.If, &o)
		a.sees = append(a.sees, v)
	}
	return a, nil
}

// Sees reports whether a hook, given by its index in Hooks, sees a call of a tool that has these names.
func (a *Activation) Sees(hook int, c allow.Call, names ...string) bool {
	if hook >= len(a.sees) { // a is not of a session
		return true
	}
	v := &a.sees[hook]
	return v.matcher.Sees(c, names...) && v.condition.Sees(c, names...)
}

// refersTo returns what the rules of a skill refer to.
func (s *Session) refersTo(ctx context.Context, k *skill.Skill) allow.Options {
	s.mu.Lock()
	rules := s.rules
	s.mu.Unlock()
	var o allow.Options
	if rules != nil {
		o = rules(ctx, k)
	}
	return o
}

// push puts a on top of the stack. op is the verb of an error, did that of the message.
func (s *Session) push(ctx context.Context, a Activation, op, did string) (Token, error) {
	if token, err := s.admits(a.Name, op); err != nil {
		return token, err
	}
	s.serial++
	a.Token = s.serial
	s.stack = append(s.stack, a)
	s.say(ctx, a, did)
	return a.Token, nil
}

func (s *Session) say(ctx context.Context, a Activation, did string) {
	s.report(ctx, trace.Event{Kind: trace.SkillActivated, Skill: a.Name,
		Message: fmt.Sprintf("%s skill '%s'", did, a.Name), Attrs: attrs(a, did)})
}

// attrs returns the attributes of an activation: what the skill allows, as written, where it lies, and whether it was active before.
func attrs(a Activation, did string) []slog.Attr {
	out := []slog.Attr{slog.String("restrictions", "all tools allowed")}
	if a.limit != nil {
		out[0] = slog.Any(trace.AttrAllowedTools, a.limit.shown())
	}
	out = append(append(out, slog.String(trace.AttrSkillPath, a.path)), trace.ContentAttrs(a.layer, a.Digest)...)
	if did != "Activated" {
		out = append(out, slog.String(trace.AttrChange, strings.ToLower(did)))
	}
	return out
}

// Deactivate ends the activation that token identifies, which must be on top. The error is an *Error, which
// wraps ErrNoneActive or ErrNotTop if it is one of these.
func (s *Session) Deactivate(ctx context.Context, token Token) error {
	s.mu.Lock()
	defer s.unlock()
	if len(s.stack) == 0 {
		return &Error{"deactivate", "", ErrNoneActive}
	}
	i := slices.IndexFunc(s.stack, func(a Activation) bool { return a.Token == token })
	if i < 0 {
		return &Error{"deactivate", fmt.Sprintf("#%d", token), errNotActive}
	}
	return s.pop(ctx, i)
}

// DeactivateName ends the activation of the skill with that name, in any spelling, and returns it; "" means the skill on top.
// The errors are those of Deactivate.
func (s *Session) DeactivateName(ctx context.Context, name string) (Activation, error) {
	s.mu.Lock()
	defer s.unlock()
	if len(s.stack) == 0 {
		return Activation{}, &Error{"deactivate", "", ErrNoneActive}
	}
	i := len(s.stack) - 1
	if name != "" {
		i = s.index(manifest.Canonical(name))
	}
	if i < 0 {
		return Activation{}, &Error{"deactivate", name, errNotActive}
	}
	was := s.stack[i]
	if err := s.pop(ctx, i); err != nil {
		return Activation{}, err
	}
	return was, nil
}

// End deactivates all skills, top first, because the task is over, and ends every Hold.
func (s *Session) End(ctx context.Context) {
	s.mu.Lock()
	defer s.unlock()
	for i := len(s.stack) - 1; i >= 0; i-- {
		s.remove(ctx, i, fmt.Sprintf("Auto-deactivated skill '%s' on task completion", s.stack[i].Name))
	}
	s.limits, s.ended = nil, nil
}

// Active returns the active skills in the order of their activation.
func (s *Session) Active() []Activation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stack)
}

// Lookup returns the activation of the skill with that name, in any spelling.
func (s *Session) Lookup(name string) (Activation, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(manifest.Canonical(name))
	if i < 0 {
		return Activation{}, false
	}
	return s.stack[i], true
}

// Recent returns the names of the active skills, the last activated first.
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
		return &Error{"deactivate", s.stack[i].Name, fmt.Errorf("'%s' %w", s.stack[top].Name, ErrNotTop)}
	}
	s.remove(ctx, i, fmt.Sprintf("Deactivated skill '%s'", s.stack[i].Name))
	return nil
}

func (s *Session) remove(ctx context.Context, i int, msg string) {
	a := s.stack[i]
	s.keep(&a)
	if s.holds(&a) {
		s.ended = append(s.ended, a)
	}
	s.stack = s.stack[:i]
	s.report(ctx, trace.Event{Kind: trace.SkillDeactivated, Skill: a.Name,
		Message: msg, Duration: s.clock().Sub(a.Since)})
}

// report queues a step for the tracer. The caller holds the lock and releases it with unlock, which runs the queue.
//
// Why a queue: a tracer that is called under the lock could not use the session, and one that each call calls after its own unlock
// would be told of the steps of calls that run at the same time in any order, so an audit log could have a skill left before it was
// entered. A second lock around both would wait for itself when the tracer changes the session.
func (s *Session) report(ctx context.Context, e trace.Event) {
	s.pending = append(s.pending, func() { trace.Emit(ctx, s.o.Trace, e) })
}

// unlock reports the queued steps without holding the lock, because a tracer may use the session, and then releases it.
// If the queue is being run already, by another goroutine or because the tracer itself changes the session, the steps are
// left to that run, which keeps them in order.
func (s *Session) unlock() {
	defer s.mu.Unlock()
	if s.reporting {
		return
	}
	s.reporting = true
	defer func() { s.reporting = false }() // a tracer may panic
	for len(s.pending) > 0 {
		next := s.pending[0]
		s.pending = s.pending[1:]
		s.unlocked(next)
	}
}

// unlocked calls f without the lock.
func (s *Session) unlocked(f func()) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f()
}
