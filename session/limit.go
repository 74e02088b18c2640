package session

import (
	"slices"
	"strings"

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

// newLimit returns what a skill allows, nil for everything. A rule of allowed-tools that cannot be read allows nothing. One of disallowed-tools
// forbids its tool, or, if it names none, everything.
func newLimit(name string, m *manifest.Manifest, o allow.Options) *limit {
	if !m.AllowedTools.Declared && len(m.DisallowedTools.Rules) == 0 {
		return nil
	}
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

// tools returns the names of the tools on the list, nil if there is no list.
func (l *limit) tools() []string {
	if l.allowed == nil {
		return nil
	}
	names := []string{}
	for _, r := range l.allowed.Rules() {
		names = append(names, r.Name())
	}
	return names
}

// forbids reports whether a tool, or a group of tools, is forbidden whatever its arguments are.
func (l *limit) forbids(name string) bool {
	return l.denied != nil && slices.ContainsFunc(l.denied.Rules(), func(r allow.Rule) bool { return r.Bare() && covers(r.Name(), name) })
}

// covers reports whether a name, or a group of names that ends with "*", has all tools of another.
func covers(group, name string) bool {
	stem, ok := strings.CutSuffix(group, "*")
	return group == name || ok && strings.HasPrefix(name, stem) && name != stem
}

// common returns the names that both lists cover.
func common(a, b []string) []string {
	out := []string{}
	for _, x := range a {
		for _, y := range b {
			switch {
			case covers(x, y):
				out = append(out, y)
			case covers(y, x):
				out = append(out, x)
			}
		}
	}
	return out
}
