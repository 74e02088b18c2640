package app

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// WithCure returns the command that adds the packages of modules to a skill: those of Python, or npm:NAME. It names no package that
// is only a guess: somebody may have published it for those who guess.
func WithCure(skillName string, modules ...string) string {
	var packages []string
	for _, m := range modules {
		if p := packageOf(m); p != "" && !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	if len(packages) == 0 {
		packages = []string{"PACKAGE"}
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

// packageOf returns the package of a module, or "" if it is not known.
func packageOf(module string) string {
	switch {
	case strings.HasPrefix(module, script.NPM):
		return module
	case survey.Guess(module):
		return ""
	}
	return survey.Package(module)
}

// ImportsText lists modules with the names of their packages: "requests, yaml (PyYAML), marked, mine (of an unknown package)".
func ImportsText(modules []string) string {
	out := make([]string, len(modules))
	for i, m := range modules {
		out[i] = strings.TrimPrefix(m, script.NPM)
		switch p := packageOf(m); p {
		case m:
		case "":
			out[i] += " (of an unknown package)"
		default:
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
			_, t.Given = t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package && script.SamePackage(w.Name, name) })
		}
		t.Given = t.Given.Add(want.Each(want.Package, want.User, add...)...)
		return nil
	})
	if err != nil {
		return err
	}
	return g.trust.reload()
}
