package skilltool

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
)

// rules returns what the rules of s refer to: what Options.Rules says, with the skill's name and folder, its folder among the
// roots, and the scripts of all skills.
func (k *Kit) rules(ctx context.Context, s *skill.Skill) allow.Options {
	ctx = context.WithoutCancel(ctx) // the rules hold longer than the call that activates s
	var o allow.Options
	if k.o.Rules != nil {
		o = k.o.Rules(ctx, s)
	}
	if o.Resolve == nil && len(o.Roots) == 0 {
		o.Resolve = asWritten
	}
	o.Skill = s.Canonical()
	if dir, err := s.Dir(ctx); err == nil { // a skill in memory has none
		o.Dir = dir
		o.Plugin, _ = s.PluginDir(ctx)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			o.Roots = append(o.Roots[:len(o.Roots):len(o.Roots)], real)
		}
	}
	o.Script = func(skillName, scriptName string) (allow.Script, bool) {
		return k.findScript(ctx, skillName, scriptName)
	}
	return o
}

// asWritten returns an absolute path. Where a relative one begins is not known: not in the folder of the skill.
func asWritten(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", errors.New("it is not known where the path begins")
	}
	return filepath.Clean(name), nil
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
