package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/trace"
)

// Enforce says what a session does about a call that its active skills do not allow.
type Enforce string

// The values of Enforce. The empty one means EnforceOn.
const (
	EnforceOff  Enforce = "off"     // allow it
	EnforceWarn Enforce = "warn"    // trace it and allow it
	EnforceOn   Enforce = "enforce" // trace it and refuse it
)

// StackPolicy says which of the active skills restrict.
type StackPolicy string

// The values of StackPolicy. The empty one means PolicyIntersection.
const (
	PolicyIntersection StackPolicy = "intersection" // all: a call must be allowed by each of them
	PolicyTop          StackPolicy = "top"          // only the one that was activated last
)

// Restriction is what the skills of a session allow at one moment. It does not change. The zero value allows everything.
type Restriction struct {
	limits []limit // in the order of activation; a call must be allowed by each
}

// IsRestricted reports whether there may be a call that is not allowed.
func (r Restriction) IsRestricted() bool { return len(r.limits) > 0 }

// Skills returns the names of the skills that restrict, in the order of their activation.
func (r Restriction) Skills() []string {
	var out []string
	for _, l := range r.limits {
		if !slices.Contains(out, l.skill) {
			out = append(out, l.skill)
		}
	}
	return out
}

// AllowedToolNames returns the canonical names of the tools that each restricting skill allows, at least for some arguments,
// sorted. "mcp__github__*" stands for all tools whose names begin that way. AllowedToolNames returns nil if no skill has a list,
// and an empty slice if there is no such tool.
func (r Restriction) AllowedToolNames() []string {
	var out []string
	for _, l := range r.limits {
		names := l.tools()
		switch {
		case names == nil:
		case out == nil:
			out = names
		default:
			out = common(out, names)
		}
	}
	for _, l := range r.limits {
		out = slices.DeleteFunc(out, l.forbids)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Check returns nil if a call is allowed. Otherwise it returns what is wrong, for the skill that was activated last of
// those that do not allow the call.
func (r Restriction) Check(c allow.Call) *Violation {
	for _, l := range slices.Backward(r.limits) {
		if v := l.check(c); v != nil {
			return v
		}
	}
	return nil
}

// DeniedFiles returns the rules of disallowed-tools about reading and about changing files, without those that have no pattern: these are
// about tools.
func (r Restriction) DeniedFiles() (read, change allow.Files) {
	for _, l := range r.limits {
		read, change = read.And(l.denied.Reading(false)), change.And(l.denied.Changing(false))
	}
	return read, change
}

// Violation is the error for a call that an active skill does not allow.
type Violation struct {
	Tool    string
	Skill   string
	Allowed []string // the rules of the skill, as written
	Why     string   // what is wrong with the arguments; "" if no rule is about the tool
}

// Message returns the text for a model: "Tool 'X' not allowed by skill 'Y'. Allowed tools: a, b (not in allowed-tools
// list)", followed by Why.
func (v *Violation) Message() string {
	return (&allow.Refusal{Tool: v.Tool, Rules: v.Allowed, Why: v.Why}).Message(v.Skill)
}

// Error returns the code, the message and the facts: "[SKILL_TOOL_NOT_ALLOWED] … (skill=Y, tool=X)".
func (v *Violation) Error() string {
	return fmt.Sprintf("[SKILL_TOOL_NOT_ALLOWED] %s (skill=%s, tool=%s)", v.Message(), v.Skill, v.Tool)
}

// Restriction returns what is allowed now, whether it is enforced or not.
func (s *Session) Restriction() Restriction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restriction()
}

func (s *Session) restriction() Restriction {
	limits := slices.Concat(s.o.Within.limits, s.limits)
	stack := s.stack
	if s.o.Policy == PolicyTop && len(stack) > 0 {
		stack = stack[len(stack)-1:]
	}
	for _, a := range stack {
		if a.limit != nil {
			limits = append(limits, *a.limit)
		}
	}
	return Restriction{limits}
}

// Enforced reports whether Check refuses calls.
func (s *Session) Enforced() bool { return s.o.Enforce != EnforceOff && s.o.Enforce != EnforceWarn }

// Check decides whether a model may make a call now. The error is a *Violation, or nil if restrictions are not enforced.
// If a skill is active, the decision is traced: as trace.ToolInSkill at debug, or as trace.RestrictionViolated at warn with
// an error and the attribute "enforced".
//
// The decision holds for the moment of the call. If one answer of a model has several calls, each is decided when its turn
// comes: a call that activates a skill restricts those after it. A call that is under way is not stopped.
func (s *Session) Check(ctx context.Context, c allow.Call) error {
	now, in := s.now()
	var v *Violation
	if s.o.Enforce != EnforceOff {
		v = now.Check(c)
	}
	if v == nil {
		s.permitted(ctx, in, c.Name())
		return nil
	}
	refuse := s.Enforced()
	s.mu.Lock()
	defer s.unlock()
	s.report(ctx, violated(v, refuse))
	if refuse {
		return v
	}
	return nil
}

// Permit traces, as Check does, a call that no restriction can refuse, such as the one that leaves a skill.
func (s *Session) Permit(ctx context.Context, tool string) {
	_, in := s.now()
	s.permitted(ctx, in, tool)
}

// now returns what is allowed, and the skill that a call is made in: the last of the stack, else the last that restricts,
// else "".
func (s *Session) now() (r Restriction, in string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r = s.restriction()
	if n := len(r.limits); n > 0 {
		in = r.limits[n-1].skill
	}
	if n := len(s.stack); n > 0 {
		in = s.stack[n-1].Name
	}
	return r, in
}

// permitted traces a call in a skill. In no skill it does nothing.
func (s *Session) permitted(ctx context.Context, in, tool string) {
	if in == "" {
		return
	}
	s.mu.Lock()
	defer s.unlock()
	s.report(ctx, trace.Event{Kind: trace.ToolInSkill, Level: slog.LevelDebug, Skill: in, Tool: tool,
		Message: fmt.Sprintf("Tool '%s' is called in skill '%s'", tool, in)})
}

// violated returns the event of a violation.
func violated(v *Violation, refused bool) trace.Event {
	fault := fmt.Sprintf("Tool '%s' not in allowed-tools list", v.Tool)
	if v.Why != "" {
		fault += ": " + v.Why
	}
	return trace.Event{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: v.Skill, Tool: v.Tool,
		Message: fmt.Sprintf("Tool '%s' not allowed by skill '%s'", v.Tool, v.Skill), Err: errors.New(fault),
		Attrs: []slog.Attr{slog.Any(trace.AttrAllowedTools, v.Allowed), slog.Bool(trace.AttrEnforced, refused)}}
}
