// Package obeyed knows which files and folders other programs obey just because they are there: agents follow them, editors, shells,
// git and package managers run what they say. Whoever writes such a file speaks to the next program that starts beside it.
//
// table.go has the names, and agents.go what belongs to an agent. A new one is a word in a row there; the tests cover it by themselves.
// Names are compared as the least exact file system does: without case, without dots and spaces at their ends, without invisible
// characters. They count at any depth, because a program may be started in any folder.
//
// A list of dangerous names is never complete. So every name that begins with a dot counts, except for those that are known as harmless.
package obeyed

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
)

// Found is a file or folder that other programs obey.
type Found struct {
	Name   string // as it is written, such as ".github/prompts" or "Agents.md"
	By     string // who obeys it, such as "Claude Code"
	Does   string // what they do, such as "follows"
	Listed bool   // a row of the table has it; else its name begins with a dot and nothing is known about it
	Home   bool   // it is listed for the home of a user alone
	Own    bool   // it is a matter of the user alone: no advice offers to have a script write it
	Agents bool   // agents obey it
	Made   bool   // programs make it while they build, test or edit: a command may, and nobody writes it by hand
}

// Reason says in a clause why the file is no ordinary one: "agents follow AGENTS.md without asking".
func (f Found) Reason() string { return fmt.Sprintf("%s %s %s without asking", f.By, f.Does, f.Name) }

// Find returns the first part of a relative slash path that other programs obey: the file itself, or a folder that it lies in.
func Find(rel string) (Found, bool) {
	parts := strings.Split(rel, "/")
	for i, name := range parts {
		if f, ok := In(strings.Join(parts[:i], "/"), name); ok {
			return f, true
		}
	}
	return Found{}, false
}

// In reports whether the entry of this name in a folder is obeyed. dir is the slash path of the folder, "" or "." for none; what lies in
// a folder that is obeyed is not asked about. It is safe for concurrent use, as are all functions here.
func In(dir, name string) (Found, bool) {
	plain := filename.Plain(name)
	x := patterns()
	if f, ok := first(x.exact[plain], dir, name); ok {
		return f, true
	}
	if strings.Contains(plain, "~") && isShort(plain) {
		return Found{Name: name, By: "programs on Windows", Does: "can take for a hidden file"}, true
	}
	if plain == "" || plain[0] != '.' || x.harmless.has(plain) {
		return Found{}, false
	}
	for _, p := range x.wild {
		if ok, _ := path.Match(p.parts[len(p.parts)-1], plain); ok {
			return first([]*pattern{p}, dir, name)
		}
	}
	return Found{Name: name, By: "programs", Does: "can read", Made: x.made.has(plain) || content.Made(name)}, true
}

// Named reports whether a path in a text for an agent means a file that agents obey, also one whose name ordinary files have too.
func Named(rel string) bool {
	rel = strings.TrimPrefix(strings.TrimPrefix(rel, "~/"), "./")
	f, ok := Find(rel)
	base := filename.Plain(path.Base(rel))
	return ok && f.Agents || slices.ContainsFunc(agents[:], func(a Agent) bool {
		return slices.Contains(strings.Fields(strings.ToLower(a.common)), base)
	})
}

// first returns what the first of some patterns finds.
func first(list []*pattern, dir, name string) (Found, bool) {
	for _, p := range list {
		if above, ok := p.follows(dir); ok {
			return Found{Name: path.Join(above, name), By: p.row.By, Does: p.row.Does, Listed: true, Home: p.home, Own: p.row.Own, Agents: p.agents}, true
		}
	}
	return Found{}, false
}

// Below returns what is obeyed in a folder of this name, as slash paths below it: "hooks" and "config" for ".git".
func Below(name string) []string { return patterns().below[filename.Plain(name)] }

// Names returns one path for each name of the table, with a text in place of a star, but for those of the home alone. Tests write them.
func Names() []string {
	var out []string
	add := func(p *pattern) {
		if !p.home {
			out = append(out, strings.ReplaceAll(strings.Join(p.parts, "/"), "*", "x"))
		}
	}
	x := patterns()
	for _, list := range x.exact {
		for _, p := range list {
			add(p)
		}
	}
	for _, p := range x.wild {
		add(p)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pattern is one name of the table.
type pattern struct {
	parts []string // as Plain returns them; the last may have a star
	home  bool
	row   *row

	agents bool // the row is about agents
}

// follows reports whether a folder ends with all parts of the pattern but the last, and returns them as they are written.
func (p *pattern) follows(dir string) (string, bool) {
	n := len(p.parts) - 1
	if n == 0 {
		return "", true
	}
	have := strings.Split(dir, "/")
	if len(have) < n {
		return "", false
	}
	have = have[len(have)-n:]
	for i, part := range have {
		if filename.Plain(part) != p.parts[i] {
			return "", false
		}
	}
	return strings.Join(have, "/"), true
}

// index finds patterns by their last parts.
type index struct {
	exact          map[string][]*pattern
	wild           []*pattern
	below          map[string][]string
	harmless, made nameSet
}

var patterns = sync.OnceValue(func() *index {
	x := &index{exact: map[string][]*pattern{}, below: map[string][]string{}, harmless: newNameSet(harmless), made: newNameSet(made)}
	for _, r := range table {
		x.add(r.Names, &r, r.By == several)
	}
	for _, a := range agents {
		x.add(a.names+" "+ownFolder(a.Project)+" "+ownFolder(a.User), &row{By: a.Title, Does: "follows"}, true)
	}
	return x
})

// add adds the names of a row.
func (x *index) add(names string, r *row, agents bool) {
	for name := range strings.FieldsSeq(names) {
		rest, home := strings.CutPrefix(name, "~/")
		p := &pattern{parts: strings.Split(filename.Plain(rest), "/"), home: home, row: r, agents: agents}
		if last := p.parts[len(p.parts)-1]; strings.Contains(last, "*") {
			x.wild = append(x.wild, p)
		} else {
			x.exact[last] = append(x.exact[last], p)
		}
		if len(p.parts) > 1 {
			x.below[p.parts[0]] = append(x.below[p.parts[0]], strings.Join(p.parts[1:], "/"))
		}
	}
}

// nameSet is a set of names, some of which have a star.
type nameSet struct {
	known map[string]bool
	stars []string
}

func newNameSet(names string) nameSet {
	s := nameSet{known: map[string]bool{}}
	for name := range strings.FieldsSeq(names) {
		if s.known[name] = true; strings.Contains(name, "*") {
			s.stars = append(s.stars, name)
		}
	}
	return s
}

func (s *nameSet) has(name string) bool {
	return s.known[name] || slices.ContainsFunc(s.stars, func(p string) bool { ok, _ := path.Match(p, name); return ok })
}

// isShort reports whether Windows could make a name out of a longer one, as CLAUDE~1 out of .claude.
func isShort(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem, number, ok := strings.Cut(stem, "~")
	return ok && len(stem) <= 6 && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}
