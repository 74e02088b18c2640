package script

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/pyenv"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// called returns what a shell script starts, and nil for another script.
func called(s *skill.Skill, sc Script) *survey.Called {
	text := survey.Beginning(s.FS(), sc.File)
	if survey.LanguageIn(sc.File, text) != survey.Shell {
		return nil
	}
	return survey.CalledBy(s.FS(), sc.File, text)
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
