package script

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// Program is what Serve runs, as far as it decides which packages are prepared.
type Program struct {
	Name  string   // ServeOptions.Name
	Files []string // ServeOptions.Files; not empty
	Own   []string // modules that the program brings itself, and npm packages with the prefix NPM
	Else  []string // ServeOptions.Else
}

// PrepareProgram is Prepare for what Serve runs: it makes the environment that Serve uses. Like that of Prepare, the result is never
// nil.
func (h *Host) PrepareProgram(ctx context.Context, s *skill.Skill, p *Program, o *PrepareOptions) (*Prepared, error) {
	if o == nil {
		o = &PrepareOptions{}
	}
	done, err := h.use(ctx, h.o.Timeout)
	if err != nil {
		return &Prepared{}, err
	}
	defer done()
	if err := checkOpen(s); err != nil {
		return &Prepared{}, err
	}
	grant, err := h.granted(ctx, s)
	if err != nil {
		return &Prepared{}, err
	}
	with := slices.Concat(grant.packages(), o.With)
	out := h.prepareGroup(ctx, s, p.group(s, with), with, o)
	out.Scripts, out.Undeclared, out.Err = []Script{p.script()}, p.foreign(out.Undeclared), ofProgram(p.Name, out.Err)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, out.Err
}

// Dependencies returns what the program needs, as DependenciesOf does, and whether it needs anything.
func (p *Program) Dependencies(s *skill.Skill, with []string) (Dependencies, bool) {
	g := p.group(s, with)
	d := Dependencies{Err: g.err}
	switch {
	case g.node:
		d = nodeDependencies(s, p.script(), with, g.serve)
	case g.needs != nil:
		d.Declared, d.Packages = g.needs.From, g.needs.Dependencies
	}
	if len(d.Packages) == 0 && !g.node {
		d.Undeclared = g.undeclared(s)
	}
	d.Scripts, d.Undeclared, d.Err = []Script{p.script()}, p.foreign(d.Undeclared), ofProgram(p.Name, d.Err)
	return d, len(d.Packages)+len(d.Undeclared) > 0 || d.Err != nil
}

// script is the program as one script, that of its first file: npm packages are looked for from there.
func (p *Program) script() Script { return Script{Name: p.Name, File: p.Files[0]} }

// group returns what the files of the program need together.
func (p *Program) group(s *skill.Skill, with []string) *alike {
	g := &alike{scripts: []Script{p.script()}, serve: &ServeOptions{Files: p.Files, Else: p.Else}}
	if lang := survey.LanguageOf(p.Files[0]); lang != survey.Python {
		g.node = lang == survey.JavaScript || lang == survey.TypeScript
		return g
	}
	g.scripts = nil
	for _, file := range p.Files {
		g.scripts = append(g.scripts, Script{Name: p.Name, File: file})
	}
	g.needs, g.err = joinedNeeds(s, g.scripts, with)
	return g
}

// foreign returns the modules that the program does not bring itself.
func (p *Program) foreign(modules []string) []string {
	return slices.DeleteFunc(modules, func(m string) bool { return slices.Contains(p.Own, m) })
}

// joinedNeeds returns what Python files need that share an environment.
func joinedNeeds(s *skill.Skill, files []Script, with []string) (all *pyenv.Needs, err error) {
	for _, sc := range files {
		src := &source{s: s, sc: sc, with: with}
		text, err := src.text()
		if err != nil {
			return nil, err
		}
		needs, err := src.needs(text)
		if err != nil {
			return nil, err
		}
		all = all.Join(needs)
	}
	return all, nil
}

// ofProgram returns an error of package script about a program: what it says of a script it says of that.
func ofProgram(name string, err error) error {
	e, ok := err.(*Error) //nolint:errorlint // one that wraps it has a text of its own
	if !ok {
		return err
	}
	out := *e
	out.Message = strings.NewReplacer("Script "+name+" ", name+" ", "script "+name+" ", name+" ", "Script changed ", name+" changed ").Replace(e.Message)
	return &out
}
