package script

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// called returns what a shell script starts, and nil for another script.
func called(s *skill.Skill, sc Script) *survey.Called {
	return survey.CalledBy(s.FS(), sc.File, survey.Beginning(s.FS(), sc.File))
}

// nodeScript returns the script whose npm packages a script needs: itself if it is run by an interpreter of JavaScript or
// TypeScript, the first such file that a shell script names, or none.
func nodeScript(s *skill.Skill, sc Script) (Script, bool) {
	if usesNode(s, sc) {
		return sc, true
	}
	if c := called(s, sc); c != nil {
		for _, file := range c.Files {
			if own := (Script{Name: sc.Name, File: file}); usesNode(s, own) {
				return own, true
			}
		}
	}
	return Script{}, false
}

// neededByCalls returns the Python packages that a shell script needs: those of all Python that it starts. It returns nil if
// that needs none, and for another script.
func (src *source) neededByCalls() (*pyenv.Needs, error) {
	c := called(src.s, src.sc)
	if c == nil {
		return nil, nil
	}
	var all *pyenv.Needs
	add := func(file string, text []byte) error {
		own := &source{host: src.host, s: src.s, sc: Script{Name: src.sc.Name, File: file}, with: src.with}
		needs, err := own.needs(text)
		if err == nil && len(needs.Dependencies) > 0 {
			all = all.Join(needs)
		}
		return err
	}
	for _, file := range c.Files {
		if survey.LanguageOf(file) != survey.Python {
			continue
		}
		if err := add(file, survey.Beginning(src.s.FS(), file)); err != nil {
			return nil, err
		}
	}
	if c.More {
		c.Code = append(c.Code, "exec(input())") // it may import anything
	}
	if len(c.Code) > 0 {
		if err := add(src.sc.File, []byte(strings.Join(c.Code, "\n"))); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// pythonOfCalls returns the interpreter of the environment that the Python needs which a shell script starts, "" if that needs
// no packages.
func (h *Host) pythonOfCalls(ctx context.Context, src *source) (string, error) {
	needs, err := src.neededByCalls()
	if err != nil || needs == nil {
		return "", err
	}
	exe, err := h.pythons.Python(ctx, h.prepared(ctx, src, needs))
	return exe, ofPython(err)
}

// withPython puts the folder of an interpreter before a PATH, so that a shell script starts this one.
func withPython(searchPath, exe string) string {
	if exe == "" {
		return searchPath
	}
	return strings.Join(slices.DeleteFunc([]string{filepath.Dir(exe), searchPath}, func(p string) bool { return p == "" }), string(filepath.ListSeparator))
}

// needs returns what a Python script needs: what its block says, or else what the files of the skill declare, and what the
// user added for the skill. A script that imports nothing but Python's own modules and files of the skill gets no packages
// that it does not ask for in a block: they are for the skill's other scripts.
func (src *source) needs(text []byte) (*pyenv.Needs, error) {
	with := pythonPackages(src.with)
	block, err := pyenv.ParseBlock(text)
	if err != nil {
		return nil, src.refused(err)
	}
	if block != nil && len(block.Dependencies) > 0 {
		return block.And(with), nil
	}
	needs := block
	if needs == nil {
		needs, err = pyenv.Declared(src.s.FS(), src.sc.File)
	}
	if err == nil && len(needs.Dependencies)+len(with) == 0 {
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	modules, all := survey.Outside(src.s.FS(), src.sc.File, text)
	alone := all && len(modules) == 0
	switch {
	case err != nil && alone:
		return &pyenv.Needs{}, nil // a broken declaration of packages that it does not import
	case err != nil:
		return nil, src.refused(err)
	case alone:
		return &pyenv.Needs{RequiresPython: needs.RequiresPython}, nil
	}
	return needs.And(with), nil
}

// refused returns the error for a declaration that cannot be followed.
func (src *source) refused(err error) error {
	return src.fail(ReasonMetadata, err, "is not run: %v", err)
}
