package allow

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/naming"
)

// The keys of arguments, without "_".
const (
	pathKeys  = "filepath path paths notebookpath absolutepath targetfile dirpath directory"
	skillKeys = "skillname skill name"
	agentKeys = "subagenttype agenttype agent"
)

// query is one call, compared with the rules of a list.
type query struct {
	o     *Options
	tool  string // canonical
	args  json.RawMessage
	rules []Rule // those that are about the tool; Read, with any arguments, is about skill_read, too

	toolset *toolsetTool // the tool of a toolset that the call is for, or nil
	form    bool         // what allowed says is about the form of a command, not about what it runs
}

func (l *List) ask(c Call) *query {
	q := &query{o: &l.o, tool: Canonical(c.Tool), args: c.Args, toolset: c.toolset()}
	for _, r := range l.rules {
		if q.toolset != nil {
			if r.Bare() && q.toolset.named(r, q.o) {
				q.rules = append(q.rules, r)
			}
			continue
		}
		if q.tool == toolToolsetList && r.opens(naming.Canonical(text(q.args, "skillname skill")), q.o) {
			q.rules = append(q.rules, r)
			continue
		}
		if r.names(q.tool) || q.script() && (r.names(toolBash) || r.names(toolScriptRun)) || q.tool == toolSkillRead && r.names(toolRead) && r.Bare() {
			q.rules = append(q.rules, r)
		}
	}
	return q
}

// script reports whether the tool runs scripts, if only for their help. A rule for a shell is about them, too: it covers a
// script if it covers one of the commands that run it.
func (q *query) script() bool { return q.tool == toolScriptRun || q.tool == toolScriptHelp }

// allowed returns "", or why no rule covers the call.
func (q *query) allowed() string {
	switch {
	case slices.ContainsFunc(q.rules, Rule.Bare):
		return ""
	case len(q.rules) == 0:
		return "no rule names the tool"
	case q.script():
		return q.scriptAllowed()
	}
	switch q.tool {
	case toolBash:
		return q.commandsAllowed()
	case toolFetch:
		return q.everyText("url", "the URL", func(p *pattern, url string) bool { return matchHost(p.host, url) })
	case toolSkill:
		return q.everyText(skillKeys, "the skill", func(p *pattern, name string) bool { return matchName(p.name, name) })
	case toolTask:
		return q.everyText(agentKeys, "the agent", func(p *pattern, name string) bool { return matchName(p.name, name) })
	}
	return q.pathsAllowed()
}

// everyText returns "" if the call has texts with one of the keys, and a rule covers each.
func (q *query) everyText(keys, what string, match func(p *pattern, text string) bool) string {
	list, ok := texts(q.args, keys)
	if !ok || len(list) == 0 {
		return what + " of the call cannot be read"
	}
	for _, s := range list {
		if !slices.ContainsFunc(q.rules, func(r Rule) bool { return match(r.pattern, s) }) {
			return fmt.Sprintf("no rule covers %s %.200q", what, s)
		}
	}
	return ""
}

func (q *query) pathsAllowed() string {
	list, below, ok := q.paths()
	if !ok {
		return "the path of the call cannot be read"
	}
	for _, name := range list {
		abs, ok := q.o.absolute(name)
		if !ok || !slices.ContainsFunc(q.rules, func(r Rule) bool { return q.o.matchPath(r.pattern.path, abs, below) }) {
			return fmt.Sprintf("no rule covers the path %.200q", name)
		}
	}
	return ""
}

// paths returns the paths of a call. below says that they are folders, and that the tool shows what lies below them.
func (q *query) paths() (list []string, below, ok bool) {
	list, ok = texts(q.args, pathKeys)
	if q.tool != toolGlob && q.tool != toolGrep {
		return list, false, ok && len(list) > 0
	}
	pattern := ""
	if q.tool == toolGlob {
		pattern = text(q.args, "pattern")
	}
	list, inside := searched(list, pattern)
	return list, true, ok && inside
}

// commandsAllowed returns "" if each simple command of the call is covered.
func (q *query) commandsAllowed() string {
	sources, lists, ok := commands(q.args)
	if !ok {
		return "the command of the call cannot be read"
	}
	for _, source := range sources {
		list, why := plain(source)
		if why != "" {
			q.form = true
			return why
		}
		if why := q.covered(list); why != "" {
			return why
		}
	}
	for _, words := range lists {
		if why := q.covered([][]string{words}); why != "" {
			return why
		}
	}
	return ""
}

// covered returns "" if the rules cover each command of a list. After a command that changes the shell itself, the same
// words may mean something else: after cd, rules that name a file cover nothing, and the other such commands stand alone.
func (q *query) covered(list [][]string) string {
	moved := false
	for _, c := range list {
		if len(list) > 1 && changesShell(c) {
			q.form = true
			return fmt.Sprintf("%.100q changes what the commands beside it do; call it alone", c[0])
		}
		_, own := q.o.own(c)
		covered := func(line []string) bool {
			return slices.ContainsFunc(q.rules, func(r Rule) bool { return r.covers(line, moved) })
		}
		if !covered(c) && !slices.ContainsFunc(own, covered) {
			return q.uncovered(c)
		}
		moved = moved || c[0] == "cd" || c[0] == "pushd" || c[0] == "popd"
	}
	return ""
}

func (q *query) uncovered(c []string) string {
	for _, r := range q.rules {
		if r.Tool == toolBash && r.pattern.words.match(c) {
			if option := refusedOption(r.pattern.words, c); option != "" {
				return fmt.Sprintf("the option %.100q of %q runs or writes something else", option, c[0])
			}
		}
	}
	return fmt.Sprintf("no rule covers the command %.200q", join(c))
}

// covers reports whether the rule covers a command. moved says that the working directory is not known.
func (r Rule) covers(c []string, moved bool) bool {
	if r.Tool != toolBash || r.pattern == nil {
		return r.Tool == toolBash
	}
	w := r.pattern.words
	return !(moved && w.placed()) && w.match(c) && refusedOption(w, c) == ""
}

// scriptAllowed returns "" if a rule covers one of the commands that run the script of the call.
func (q *query) scriptAllowed() string {
	s, args, ok := q.called()
	if !ok {
		return "the script of the call cannot be read"
	}
	for _, way := range q.o.ways(s) {
		line := append(slices.Clone(way), args...)
		if slices.ContainsFunc(q.rules, func(r Rule) bool { return r.covers(line, false) }) {
			return ""
		}
	}
	return fmt.Sprintf("no rule covers the script %.200q", s.Path)
}

// called returns the script of the call and its arguments.
func (q *query) called() (s Script, args []string, ok bool) {
	skill, name := text(q.args, "skillname skill"), text(q.args, "scriptname script")
	args, ok = scriptWords(q.args)
	if !ok || skill == "" || name == "" {
		return Script{}, nil, false
	}
	if q.tool == toolScriptHelp {
		args = []string{"--help"}
	}
	if q.o.Script != nil {
		if s, ok := q.o.Script(skill, name); ok {
			return s, args, true
		}
	}
	return Script{Skill: naming.Canonical(skill), Path: name}, args, true
}
