package app

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
)

// WithCure returns the command that adds the packages of modules to a skill: those of Python, or npm:NAME.
func WithCure(skillName string, modules ...string) string {
	var packages []string
	for _, m := range modules {
		if p := packageOf(m); !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	return "agent skill prepare " + skillName + " --with " + strings.Join(packages, " --with ")
}

// packageOf returns the package of a module.
func packageOf(module string) string {
	if strings.HasPrefix(module, script.NPM) {
		return module
	}
	return survey.Package(module)
}

// ImportsText lists modules with the names of their packages: "requests, yaml (PyYAML), marked".
func ImportsText(modules []string) string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = strings.TrimPrefix(m, script.NPM)
		if p := packageOf(m); p != m {
			out[i] += " (" + p + ")"
		}
	}
	return strings.Join(out, ", ")
}

// With returns the packages that the user added to a skill.
func (k *Toolkit) With(ctx context.Context, s *skill.Skill) []string {
	grant, err := k.grants.Of(ctx, s)
	if err != nil {
		return nil
	}
	return grant.With
}

// GrantWith stores packages that the scripts of a skill need in addition to those that it declares, for its present content,
// and removes others.
func (c *Consent) GrantWith(ctx context.Context, s *skill.Skill, with, without []string) error {
	key, err := grantKey(ctx, s)
	if err != nil {
		return err
	}
	store, err := c.trust.Edit()
	if err != nil {
		return err
	}
	err = store.EditGrant(ctx, *key, func(g *trust.Grant) error {
		for _, name := range without {
			g.With = slices.DeleteFunc(g.With, func(have string) bool { return script.SamePackage(have, name) })
		}
		g.With = append(g.With, with...)
		return nil
	})
	if err != nil {
		return err
	}
	return c.trust.Reload()
}
