package worker

import (
	"context"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
)

// unasked reports whether the question about a call may be left out: it is a command in the sandbox, no rule of the user asks about it,
// and it runs a script of an active skill as that skill's allowed-tools and the user say.
func (w *worker) unasked(ctx context.Context, c *permit.Call, d permit.Decision) bool {
	if d.Verdict != permit.Asked || c.Kind != permit.Command || !c.Confined || d.Rule.Text != "" || d.Doubt {
		return false
	}
	for _, act := range w.session.Active() {
		e, err := w.catalog().Lookup(act.Name)
		if err != nil {
			continue
		}
		s, err := e.Load(ctx)
		if err != nil {
			continue
		}
		own := w.runsOwn(ctx, s, c.Command)
		s.Close()
		if own {
			return true
		}
	}
	return false
}

// runsOwn reports whether a command runs a script of a skill as its allowed-tools says, and the user wants no question about that.
func (w *worker) runsOwn(ctx context.Context, s *skill.Skill, command string) bool {
	dir, err := s.Dir(ctx)
	if err != nil || !s.Manifest().AllowedTools.Declared || !w.s.Grants.Unasked(ctx, s) {
		return false
	}
	var files []string
	scripts, _ := script.List(s, w.s.Settings.Survey())
	for _, sc := range scripts {
		files = append(files, sc.File)
	}
	o := w.rules(ctx, s)
	o.Skill, o.Dir = s.Canonical(), dir
	rules, _ := allow.Parse(s.Manifest().AllowedTools.Rules, &o)
	return rules.RunsOwn(command, files)
}
