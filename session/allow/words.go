package allow

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/placeholder"
)

// words is the pattern of a shell command: git status, git log:*, npm run test:*, ./scripts/*.
type words struct {
	list []word
	rest bool // any further words may follow

	versions bool // the program's name may end in a version, as in python3.12
}

// word is a pattern for one word: the texts around each of its stars. Without a star it is one text.
type word []string

// any reports whether the pattern is a star alone, which stands for one word or more.
func (w word) any() bool { return len(w) == 2 && w[0] == "" && w[1] == "" }

// Runes that stand for a folder while a pattern is read: no shell gives them a meaning.
const (
	dirMark    = "\ue000"
	pluginMark = "\ue001"
	homeMark   = "\ue002"
)

// parseWords reads the pattern of a command. It is one simple command in the grammar of a shell, in which a star outside
// of quotes stands for any text, and which may end in :* or a star for any further words.
func parseWords(text string, o *Options) (words, *fault) {
	cure := "write one command: Bash(git status), or Bash(git status:*) for any arguments"
	text, rest := strings.CutSuffix(text, ":*")
	switch {
	case strings.Contains(text, ":*"):
		return words{}, unclear("has :* before its end", cure)
	case strings.Contains(text, ", "):
		return words{}, unclear("has several commands", "write a rule for each command")
	case strings.ContainsAny(text, dirMark+pluginMark+homeMark):
		return words{}, unclear("has a character that no command has", cure)
	}
	text = strings.ReplaceAll(placeholder.Replace(text, dirMark), "${CLAUDE_PLUGIN_ROOT}", pluginMark)
	commands, why := read(text, true)
	if why != "" || len(commands) != 1 {
		return words{}, unclear("is not the pattern of one command", cure)
	}
	w := words{list: commands[0], rest: rest}
	if name := strings.Join(w.list[0], ""); strings.Contains(name, ":") && strings.Index(name, ":/") != 1 {
		return words{}, unclear("names no program, because no program has a colon in its name", "name the program, with a space before its subcommand: Bash(git status:*)")
	}
	if o.Forbids && strings.Contains(fmt.Sprint(w.list), homeMark) {
		return words{}, unclear("has a ~, and a command can name that folder in other ways", "write the whole path")
	}
	w.fill(o)
	if f := w.close(o.Forbids); f != nil {
		return words{}, f
	}
	return w, nil
}

// fill puts the folders in the place of their marks.
func (w *words) fill(o *Options) {
	dir := cmp.Or(o.Dir, inMemory(o.Skill))
	pairs := []string{dirMark, dir, pluginMark, cmp.Or(o.Plugin, dir)}
	if o.Skill != "" {
		for _, host := range obeyed.SkillFolders("") {
			pairs = append(pairs, homeMark+"/"+host+"/skills/"+o.Skill+"/", dir+"/") // where its writer had it
		}
	}
	r := strings.NewReplacer(append(pairs, homeMark, cmp.Or(o.Home, "home:"))...)
	for _, one := range w.list {
		for i := range one {
			one[i] = r.Replace(one[i])
		}
	}
}

// close checks the name of the command and reads a star at the end as any further words. A star in the name stands for a version of
// the program: ls* is ls with any arguments, never lsof, and python*x* is python *x* or python3 *x*.
func (w *words) close(forbids bool) *fault {
	last := len(w.list) - 1
	if w.list[last].any() && last > 0 {
		w.list, w.rest = w.list[:last], true
	} else if n := len(w.list[last]); n > 1 && w.list[last][n-1] == "" {
		w.rest = true
	}
	name := w.list[0]
	open := len(name) > 1 && !strings.Contains(name[0], "/")
	switch {
	case open && len(name) == 2 && name[1] == "":
		w.list[0], w.versions = name[:1], true
	case open && name[0] != "" && !forbids:
		w.list, w.versions = slices.Insert(w.list, 1, append(word{""}, name[1:]...)), true
		w.list[0] = name[:1]
	case open:
		return unclear("leaves the name of the command open", "name the command: Bash(git status:*)")
	}
	if w.list[0][0] == "" {
		return unclear("names no command", "name the command, or write Bash alone to allow every one")
	}
	return nil
}

// match reports whether the pattern covers a command.
func (w words) match(command []string) bool {
	if w.versions && len(command) > 0 {
		version, ok := strings.CutPrefix(command[0], w.list[0][0])
		if ok && strings.Trim(version, "0123456789.") == "" {
			return matchWords(w.list[1:], command[1:], w.rest)
		}
	}
	return matchWords(w.list, command, w.rest)
}

func matchWords(pattern []word, command []string, rest bool) bool {
	for i, p := range pattern {
		if p.any() {
			for n := i + 1; n <= len(command); n++ {
				if matchWords(pattern[i+1:], command[n:], rest) {
					return true
				}
			}
			return false
		}
		if i >= len(command) || !p.match(command[i]) {
			return false
		}
	}
	return rest || len(command) == len(pattern)
}

// match reports whether the pattern covers a word. A star matches no path that leads upwards: scripts/* does not cover
// scripts/../x.
func (p word) match(s string) bool {
	first, last := p[0], p[len(p)-1]
	if len(p) == 1 {
		return s == first
	}
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) || slices.Contains(strings.Split(s, "/"), "..") {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range p[1 : len(p)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// placed reports whether the pattern names a file relative to the folder in which the command runs.
func (w words) placed() bool {
	return slices.ContainsFunc(w.list, func(p word) bool { return !path.IsAbs(p[0]) && strings.ContainsAny(strings.Join(p, "*"), "/.") })
}
