package skilltool

import (
	"context"
	"path/filepath"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
)

// Rules returns what the rules of s refer to, for session.Options.Rules: the values of o, with the skill's name and folder,
// its folder among the roots, and the scripts of all skills.
func (k *Kit) Rules(ctx context.Context, s *skill.Skill, o allow.Options) *allow.Options {
	ctx = context.WithoutCancel(ctx) // the rules hold longer than the call that activates s
	o.Skill = s.Canonical()
	if dir, err := s.Dir(ctx); err == nil { // a skill in memory has none
		o.Dir = dir
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			o.Roots = append(o.Roots[:len(o.Roots):len(o.Roots)], real)
		}
	}
	o.Script = func(skillName, scriptName string) (allow.Script, bool) {
		return k.findScript(ctx, skillName, scriptName)
	}
	return &o
}

// findScript returns the file that a call of a script names. It does not say whether the call is allowed.
func (k *Kit) findScript(ctx context.Context, skillName, scriptName string) (allow.Script, bool) {
	e, err := k.o.Catalog().Lookup(skillName)
	if err != nil {
		return allow.Script{}, false
	}
	s, err := e.Load(ctx)
	if err != nil {
		return allow.Script{}, false
	}
	defer s.Close()
	sc, err := script.Find(ctx, s, scriptName, k.survey())
	if err != nil {
		return allow.Script{}, false
	}
	dir, _ := s.Dir(ctx) // "" for a skill in memory
	return allow.Script{Skill: s.Canonical(), Dir: dir, Path: sc.File}, true
}
