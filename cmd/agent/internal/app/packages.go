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
	return withCommand(skillName, packages)
}

// withCommand returns the command that adds packages to a skill.
func withCommand(skillName string, packages []string) string {
	command := "agent skill prepare " + skillName
	for _, p := range packages {
		command += " --with " + ShellWord(p)
	}
	return command
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

// EditWith adds packages that the scripts of a skill need in addition to those that it declares, for its present content, and
// removes others.
func (g *Grants) EditWith(ctx context.Context, s *skill.Skill, add, remove []string) error {
	store, err := g.trust.Edit()
	if err != nil {
		return err
	}
	key, err := grantKey(ctx, s)
	if err != nil {
		return err
	}
	err = store.EditGrant(ctx, *key, func(t *trust.Grant) error {
		for _, name := range remove {
			t.With = slices.DeleteFunc(slices.Clone(t.With), func(have string) bool { return script.SamePackage(have, name) })
		}
		t.With = append(t.With, add...)
		return nil
	})
	if err != nil {
		return err
	}
	return g.trust.reload()
}
