package allow

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-base/agent-base/internal/glob"
)

// kin returns a tool whose rules forbid another tool, too: what may not be read may not be searched.
func kin(tool string) string {
	switch tool {
	case toolGlob, toolGrep, toolSkillRead:
		return toolRead
	case toolWrite:
		return toolEdit
	case toolEdit:
		return toolWrite
	}
	return ""
}

// mentions reports whether a rule names the call or a part of it. A rule with a pattern names arguments that cannot be
// read.
func (q *query) mentions(r Rule) bool {
	if q.toolset != nil {
		return q.toolset.named(r, q.o)
	}
	switch {
	case r.names(q.tool) || q.script() && r.names(toolBash):
	case r.Tool == kin(q.tool) && !(q.tool == toolSkillRead && !r.Bare()):
	default:
		return false
	}
	if r.Bare() {
		return true
	}
	p := r.pattern
	switch r.Tool {
	case toolBash:
		if q.script() {
			return q.scriptRuns(p.words)
		}
		return q.runs(p.words)
	case toolFetch:
		return q.anyText("url", func(s string) bool { return matchHost(p.host, s) })
	case toolSkill:
		return q.anyText(skillKeys, func(s string) bool { return matchName(p.name, s) })
	case toolTask:
		return q.anyText(agentKeys, func(s string) bool { return matchName(p.name, s) })
	}
	return q.touches(p.path)
}

func (q *query) anyText(keys string, match func(string) bool) bool {
	list, ok := texts(q.args, keys)
	return !ok || slices.ContainsFunc(list, match)
}

// touches reports whether a path of the call is one that a pattern names. A pattern without a folder names files at any
// depth, and one that names a folder what is in it.
func (q *query) touches(pattern string) bool {
	list, _, ok := q.paths()
	for _, name := range list {
		abs, found := q.o.absolute(name)
		if !found {
			return true
		}
		for _, p := range wider(pattern) {
			if q.o.matchPath(p, abs, false) {
				return true
			}
		}
	}
	return !ok
}

// runs reports whether a command of the call is one that a pattern names, wherever it stands: in a list, a group, a
// substitution. What cannot be read counts as named.
func (q *query) runs(w words) bool {
	sources, lists, ok := commands(q.args)
	if !ok {
		return true
	}
	for _, source := range sources {
		if unreadable(source) != "" {
			return true
		}
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source), "")
		if err != nil {
			return true
		}
		syntax.Walk(f, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok {
				lists = append(lists, loose(c))
			}
			return true
		})
	}
	return slices.ContainsFunc(lists, w.mentioned)
}

// loose returns the words of a command, "" for those that a shell expands.
func loose(c *syntax.CallExpr) []string {
	var out []string
	r := &reader{}
	for _, w := range c.Args {
		text := ""
		if one, ok := r.word(w); ok {
			text = one[0]
		}
		out = append(out, text)
	}
	return out
}

// mentioned reports whether the pattern matches a command or what a command like env or sudo runs. The name of a program
// counts without its folder.
func (w words) mentioned(c []string) bool {
	if len(c) == 0 {
		return false
	}
	tails := 1
	if p, ok := programNamed(path.Base(c[0])); ok && p.why == wraps {
		tails = len(c)
	}
	for i := range tails {
		tail := slices.Clone(c[i:])
		if w.match(tail) {
			return true
		}
		if tail[0] = path.Base(tail[0]); w.match(tail) {
			return true
		}
	}
	return false
}

func (q *query) scriptRuns(w words) bool {
	s, args, ok := q.called()
	if !ok {
		return true
	}
	return slices.ContainsFunc(q.o.ways(s), func(way []string) bool { return w.match(append(slices.Clone(way), args...)) })
}

// searched returns the folders that a search covers: those of its arguments, or the first root.
func searched(list []string, pattern string) ([]string, bool) {
	if len(list) == 0 {
		list = []string{"."}
	}
	dir, rest := glob.Split(pattern)
	for i, one := range list {
		if list[i] = path.Join(one, dir); filepath.IsAbs(dir) {
			list[i] = dir
		}
	}
	return list, !slices.Contains(strings.Split(rest, "/"), "..")
}
