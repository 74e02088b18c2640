package allow

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// ways returns the commands that run a script through a shell, without its arguments: by itself and by each program that
// runs its language, with the path of its file in each form. Only the scripts of the list's own skill have a path
// relative to the skill: scripts/x.py of another skill is another file.
func (o *Options) ways(s Script) [][]string {
	paths := []string{inMemory(s.Skill) + "/" + s.Path}
	if s.Dir != "" {
		paths = append(paths, filepath.Join(s.Dir, filepath.FromSlash(s.Path)))
	}
	if o.Skill != "" && s.Skill == o.Skill {
		paths = append(paths, s.Path, "./"+s.Path)
	}
	var out [][]string
	for _, p := range paths {
		out = append(out, []string{p})
		for _, program := range runners(s.Path) {
			out = append(out, append(slices.Clone(strings.Fields(program)), p))
		}
	}
	return out
}

// inMemory stands for the folder of a skill that is on no disk. It is the path of no file.
func inMemory(skill string) string { return "skill://" + skill }

// runners returns the commands that run a script with that extension.
func runners(name string) []string { return language.Of(name).Row().Ways() }
