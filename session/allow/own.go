package allow

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// own returns the script of the list's own skill that a command runs by its absolute path, and the commands that run it with the same
// arguments: a rule that names its path below the skill means this one.
func (o *Options) own(command []string) (s Script, lines [][]string) {
	if o.Skill == "" || o.Dir == "" {
		return Script{}, nil
	}
	for _, word := range command {
		rel, ok := strings.CutPrefix(filepath.ToSlash(word), filepath.ToSlash(o.Dir)+"/")
		if !ok || path.Clean(rel) != rel || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		s := Script{Skill: o.Skill, Dir: o.Dir, Path: rel}
		ways := o.ways(s)
		for _, way := range ways {
			n := len(way)
			if way[n-1] != word || len(command) < n || !slices.Equal(command[:n], way) {
				continue
			}
			for _, other := range ways {
				lines = append(lines, append(slices.Clone(other), command[n:]...))
			}
			return s, lines
		}
		break
	}
	return Script{}, nil
}

// RunsOwn reports whether a command of a shell is nothing but one call of one of these files of the list's own skill by its absolute
// path, and a rule that has the pattern of a command covers it, with that path or with the one below the skill. files are slash paths
// below the skill.
func (l *List) RunsOwn(command string, files []string) bool {
	commands, why := plain(command)
	if why != "" || len(commands) != 1 {
		return false
	}
	s, lines := l.o.own(commands[0])
	return slices.Contains(files, s.Path) && slices.ContainsFunc(l.rules, func(r Rule) bool {
		return r.pattern != nil && slices.ContainsFunc(lines, func(line []string) bool { return r.covers(line, false) })
	})
}
