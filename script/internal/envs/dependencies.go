package envs

import (
	"slices"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
)

// DependenciesOf returns what the scripts of a skill need, with packages that the user added: those of Python, and of npm
// with the prefix NPM. It reads files only. Scripts that need nothing are left out.
func DependenciesOf(s *skill.Skill, scripts []survey.Script, with []string) []Dependencies {
	var out []Dependencies
	for _, g := range groups(s, scripts, with) {
		d := Dependencies{Scripts: g.scripts, Err: g.err}
		if g.node != nil {
			d = g.node.nodeDependencies()
		}
		if g.needs != nil {
			d.Declared, d.Packages = g.needs.From, g.needs.Dependencies
		}
		if len(d.Packages) == 0 && g.node == nil {
			d.Undeclared = g.undeclared(s)
		}
		if len(d.Packages)+len(d.Undeclared) == 0 && d.Err == nil {
			continue
		}
		same := slices.IndexFunc(out, func(o Dependencies) bool { return g.node != nil && o.alike(&d) })
		if same >= 0 {
			out[same].Scripts = append(out[same].Scripts, d.Scripts...)
			continue
		}
		out = append(out, d)
	}
	return out
}

// alike reports whether both declare the same packages in the same place.
func (d *Dependencies) alike(o *Dependencies) bool {
	return d.Err == nil && o.Err == nil && d.Declared == o.Declared && len(d.Packages) > 0 && slices.Equal(d.Packages, o.Packages)
}

// alike is scripts that need the same.
type alike struct {
	scripts []survey.Script
	node    *Of          // one script of JavaScript or TypeScript, or a program; nil for others
	needs   *pyenv.Needs // nil for scripts that are not run by Python, and with an error
	err     error
}

// groups puts scripts together that need the same.
func groups(s *skill.Skill, scripts []survey.Script, with []string) []*alike {
	var out []*alike
	known := map[string]*alike{}
	for _, sc := range scripts {
		of := &Of{Skill: s, Script: sc, With: with}
		g := &alike{scripts: []survey.Script{sc}}
		key := ""
		if _, ok := nodeScript(s, sc); ok {
			out = append(out, &alike{scripts: g.scripts, node: of})
			if usesNode(s, sc) {
				continue
			}
		}
		if g.needs, g.err = of.pythonNeeds(); g.err != nil {
			out = append(out, g)
			continue
		}
		if g.needs != nil {
			key = g.needs.From + "\x00" + g.needs.Key()
		}
		if same := known[key]; same != nil {
			same.scripts = append(same.scripts, sc)
			continue
		}
		known[key] = g
		out = append(out, g)
	}
	return out
}

// undeclared returns the modules that the scripts import, themselves or through files of their skill, and that are neither
// part of Python nor of the skill.
func (g *alike) undeclared(s *skill.Skill) []string {
	var out []string
	for _, sc := range g.scripts {
		out = append(out, Imports(s, sc)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
