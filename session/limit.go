package session

import (
	"slices"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill/manifest"
)

// limit is what one skill allows: what is on the list allowed, and not on the list denied.
type limit struct {
	skill   string
	written []string    // the rules of allowed-tools, as written
	allowed *allow.List // nil for everything
	denied  *allow.List // nil for nothing
}

// newLimit returns what a skill allows. A rule of allowed-tools that cannot be read allows nothing. One of disallowed-tools
// forbids its tool, or, if it names none, everything.
func newLimit(name string, m *manifest.Manifest, o allow.Options) *limit {
	l := &limit{skill: name}
	if m.AllowedTools.Declared {
		l.written = slices.Clone(m.AllowedTools.Rules)
		l.allowed, _ = allow.Parse(l.written, &o)
	}
	forbidden := m.DisallowedTools.Rules
	if len(forbidden) == 0 {
		return l
	}
	o.Forbids = true
	l.denied, _ = allow.Parse(forbidden, &o)
	if len(l.denied.Rules()) < len(forbidden) {
		l.written = nil
		l.allowed, _ = allow.Parse(nil, nil)
	}
	return l
}

// check returns nil if a call is allowed.
func (l *limit) check(c allow.Call) *Violation {
	if rule, ok := l.denied.Names(c); ok {
		return &Violation{Tool: c.Name(), Skill: l.skill, Allowed: l.shown(), Why: "disallowed-tools has " + rule.Text}
	}
	if refusal := l.allowed.Check(c); refusal != nil {
		return &Violation{Tool: c.Name(), Skill: l.skill, Allowed: l.shown(), Why: refusal.Why}
	}
	return nil
}

// shown returns the allowed rules for a message.
func (l *limit) shown() []string {
	if l.allowed == nil {
		return []string{"all others"}
	}
	return slices.Clone(l.written)
}

// tools returns the canonical names of the tools on the list, nil if there is no list.
func (l *limit) tools() []string {
	if l.allowed == nil {
		return nil
	}
	names := []string{}
	for _, r := range l.allowed.Rules() {
		names = append(names, r.Tool)
	}
	return names
}
