package envs

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill"
)

// Program is what Serve runs, as far as it decides which packages are prepared.
type Program struct {
	Name  string   // ServeOptions.Name
	Files []string // ServeOptions.Files; not empty
	Own   []string // modules that the program brings itself, and npm packages with the prefix NPM
	Else  []string // ServeOptions.Else
}

// PrepareProgram makes the environment of a program. The result is never nil.
func (st *Store) PrepareProgram(ctx context.Context, s *skill.Skill, p *Program, with []string, o *PrepareOptions) *Prepared {
	out := st.prepareGroup(ctx, s, p.group(s, with), o)
	out.Scripts, out.Undeclared, out.Err = []survey.Script{p.script()}, p.foreign(out.Undeclared), fail.OfProgram(p.Name, out.Err)
	return out
}

// Dependencies returns what the program needs, as DependenciesOf does, and whether it needs anything.
func (p *Program) Dependencies(s *skill.Skill, with []string) (Dependencies, bool) {
	g := p.group(s, with)
	d := Dependencies{Err: g.err}
	switch {
	case g.node != nil:
		d = g.node.nodeDependencies()
	case g.needs != nil:
		d.Declared, d.Packages = g.needs.From, g.needs.Dependencies
	}
	if len(d.Packages) == 0 && g.node == nil {
		d.Undeclared = g.undeclared(s)
	}
	d.Scripts, d.Undeclared, d.Err = []survey.Script{p.script()}, p.foreign(d.Undeclared), fail.OfProgram(p.Name, d.Err)
	return d, len(d.Packages)+len(d.Undeclared) > 0 || d.Err != nil
}

// script is the program as one script, that of its first file: npm packages are looked for from there.
func (p *Program) script() survey.Script { return survey.Script{Name: p.Name, File: p.Files[0]} }

// group returns what the files of the program need together.
func (p *Program) group(s *skill.Skill, with []string) *alike {
	g := &alike{scripts: []survey.Script{p.script()}}
	of := &Of{Skill: s, Script: p.script(), With: with, Also: p.Files[1:], Else: p.Else}
	switch survey.LanguageOf(p.Files[0]) {
	case survey.JavaScript, survey.TypeScript:
		g.node = of
	case survey.Python:
		g.scripts = nil
		for _, file := range p.Files {
			g.scripts = append(g.scripts, survey.Script{Name: p.Name, File: file})
		}
		g.needs, g.err = of.needs()
	}
	return g
}

// foreign returns the modules that the program does not bring itself.
func (p *Program) foreign(modules []string) []string {
	return slices.DeleteFunc(modules, func(m string) bool { return slices.Contains(p.Own, m) })
}
