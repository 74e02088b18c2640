package envs

import (
	"errors"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/skill"
)

// called returns what a shell script starts, and nil for another script.
func called(s *skill.Skill, sc survey.Script) *survey.Called {
	return survey.CalledBy(s.FS(), sc.File, survey.Beginning(s.FS(), sc.File))
}

// nodeScript returns the script whose npm packages a script needs: itself if it is run by an interpreter of JavaScript or
// TypeScript, the first such file that a shell script names, or none.
func nodeScript(s *skill.Skill, sc survey.Script) (survey.Script, bool) {
	if usesNode(s, sc) {
		return sc, true
	}
	if c := called(s, sc); c != nil {
		for _, file := range c.Files {
			if own := (survey.Script{Name: sc.Name, File: file}); usesNode(s, own) {
				return own, true
			}
		}
	}
	return survey.Script{}, false
}

// neededByCalls returns the Python packages that a shell script needs: those of all Python that it starts. It returns nil if
// that needs none, and for another script.
func (of *Of) neededByCalls() (*pyenv.Needs, error) {
	c := called(of.Skill, of.Script)
	if c == nil {
		return nil, nil
	}
	var all *pyenv.Needs
	add := func(file string, text []byte) error {
		needs, err := of.file(file).needsOf(text)
		if err == nil && len(needs.Dependencies) > 0 {
			all = all.Join(needs)
		}
		return err
	}
	for _, file := range c.Files {
		if survey.LanguageOf(file) != survey.Python {
			continue
		}
		if err := add(file, survey.Beginning(of.Skill.FS(), file)); err != nil {
			return nil, err
		}
	}
	if c.More {
		c.Code = append(c.Code, "exec(input())") // it may import anything
	}
	if len(c.Code) > 0 {
		if err := add(of.Script.File, []byte(strings.Join(c.Code, "\n"))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// needsOf returns what a Python script with this text needs: what its block says, or else what the files of the skill declare, and what the
// user added for the skill. A script that imports nothing but Python's own modules and files of the skill gets no packages
// that it does not ask for in a block: they are for the skill's other scripts.
func (of *Of) needsOf(text []byte) (*pyenv.Needs, error) {
	with := pythonPackages(of.With)
	block, err := pyenv.ParseBlock(text)
	if err != nil {
		return nil, of.refused(err)
	}
	if block != nil && len(block.Dependencies) > 0 {
		return block.And(with), nil
	}
	needs := block
	if needs == nil {
		needs, err = pyenv.Declared(of.Skill.FS(), of.Script.File)
	}
	if err == nil && len(needs.Dependencies)+len(with) == 0 {
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	modules, all := survey.Outside(of.Skill.FS(), of.Script.File, text)
	alone := all && len(modules) == 0
	switch {
	case err != nil && alone:
		return &pyenv.Needs{}, nil // a broken declaration of packages that it does not import
	case err != nil:
		return nil, of.refused(err)
	case alone:
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	return needs.And(with), nil
}

// refused returns the error for a declaration that cannot be followed.
func (of *Of) refused(err error) error {
	return fail.OfScript(of.Script.Name, fail.ReasonMetadata, err, "is not run: %v", err)
}

// isPython reports whether a script is run by Python.
func isPython(s *skill.Skill, sc survey.Script) bool {
	return survey.LanguageIn(sc.File, survey.Head(s.FS(), sc.File)) == survey.Python
}

// usesNode reports whether a script is run by an interpreter of JavaScript or TypeScript.
func usesNode(s *skill.Skill, sc survey.Script) bool {
	lang := survey.LanguageIn(sc.File, survey.Head(s.FS(), sc.File))
	return lang == survey.JavaScript || lang == survey.TypeScript
}

// Text returns the text of a script.
func Text(s *skill.Skill, sc survey.Script) ([]byte, error) {
	b, err := s.ReadFile(sc.File)
	if errors.Is(err, skill.ErrTooBig) {
		return nil, fail.OfScript(sc.Name, "", err, "cannot be read: %v: move its data into files of their own, which it opens", err)
	}
	if err != nil {
		return nil, fail.OfScript(sc.Name, "", err, "cannot be read: %v", err)
	}
	return b, nil
}

// needs returns what a script of Python needs, or the files of a program together.
func (of *Of) needs() (all *pyenv.Needs, err error) {
	for _, name := range append([]string{of.Script.File}, of.Also...) {
		one := of.file(name)
		text, err := Text(one.Skill, one.Script)
		if err != nil {
			return nil, err
		}
		needs, err := one.needsOf(text)
		if err != nil {
			return nil, err
		}
		all = all.Join(needs)
	}
	return all, nil
}

// pythonNeeds returns what the Python needs that a script is or starts, nil if there is none.
func (of *Of) pythonNeeds() (*pyenv.Needs, error) {
	if isPython(of.Skill, of.Script) {
		return of.needs()
	}
	return of.neededByCalls()
}

// Imports returns the modules of Python that one script imports, itself or through files of its skill, and those of the Python files that
// it names. None is part of Python or of the skill.
func Imports(s *skill.Skill, sc survey.Script) []string {
	if c := called(s, sc); c != nil {
		var out []string
		for _, file := range c.Files {
			out = append(out, Imports(s, survey.Script{Name: sc.Name, File: file})...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	text, err := Text(s, sc)
	if err != nil || !isPython(s, sc) {
		return nil
	}
	modules, _ := survey.Outside(s.FS(), sc.File, text)
	return slices.DeleteFunc(modules, func(m string) bool { return survey.HasModule(s.FS(), m) })
}
