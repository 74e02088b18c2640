package consent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// asked returns what a manifest asks for in addition to the skill's own files, and what it gives up. Without allowed-tools it asks for
// every tool.
func asked(m *manifest.Manifest) (wants, forgoes want.Set) {
	wants = m.Permissions.Wants()
	each := func(k want.Kind, names ...string) { wants = append(wants, want.Each(k, want.Declared, names...)...) }
	if each(want.Tool, m.AllowedTools.Rules...); !m.AllowedTools.Declared {
		each(want.Tool, want.Any)
	}
	for _, h := range m.Hooks {
		each(want.Hook, hookText(h))
	}
	each(want.Server, m.Toolsets...)
	if m.Context == "fork" {
		each(want.Agent, m.Context)
	}
	if m.Model != "" {
		each(want.Model, m.Model)
	}
	return want.New(wants...), want.Each(want.Tool, want.Declared, m.DisallowedTools.Rules...)
}

// hookText says when a hook runs, and what it runs. A text of several lines is quoted: shown as spaces, line ends would hide
// where a comment ends.
func hookText(h manifest.Hook) string {
	quoted := func(text string) string {
		if strings.ContainsAny(text, "\n\r\t") {
			return strconv.Quote(text)
		}
		return text
	}
	when := h.Event
	if h.Matcher != "" {
		when += " " + quoted(h.Matcher)
	}
	if h.If != "" {
		when += " if " + quoted(h.If)
	}
	return fmt.Sprintf("%s: %s", when, quoted(h.Script+h.Command))
}

// group is what a line names: the wants of a kind, or a single one that fills a line.
type group struct {
	title string
	items []string
}

func (g *group) String() string { return g.title + ": " + strings.Join(g.items, " ") }

// singular begins the title of a group that has a single want of a kind.
func singular(k want.Kind) string { return strings.TrimSuffix(k.Title(want.Declared), "s") + " " }

// isAlone reports whether a line is that of a hook or a server with its command.
func isAlone(line string) bool {
	return strings.HasPrefix(line, singular(want.Hook)) || strings.HasPrefix(line, singular(want.Server))
}

// groupsOf returns what is declared in a set, in order. Every tool is what a skill has without asking, and no line.
func groupsOf(set want.Set) []group {
	var out []group
	declared := set.From(want.Declared).Without(want.Of(want.Tool, want.Any))
	for _, k := range want.Kinds() {
		var alone []group
		g := group{title: k.Title(want.Declared)}
		for _, name := range declared.Named(k) {
			if title, rest, long := strings.Cut(name, ": "); long && (k == want.Hook || k == want.Server) {
				alone = append(alone, group{singular(k) + title, []string{rest}})
			} else {
				g.items = append(g.items, name)
			}
		}
		if len(g.items) > 0 {
			out = append(out, g)
		}
		out = append(out, alone...)
	}
	return out
}

// LinesOf lists what is declared in a set, one line for each kind: "network: HOST HOST".
func LinesOf(set want.Set) []string {
	var out []string
	for _, g := range groupsOf(set) {
		out = append(out, g.String())
	}
	return out
}

// growth says what a content asks for, does or may do that another one did not, one line for each kind. An empty list means
// that an approval of the old one covers everything that the new one declares. Without seenAll the approval of the old one may not have all
// that its texts show: then only variables and hosts are compared, which each has.
func growth(old, now *trust.Approval, seenAll bool) []string {
	fresh := now.Wants.From(want.Declared).Minus(old.Wants.From(want.Declared))
	out := LinesOf(fresh)
	seen := now.Wants.From(want.Seen).Minus(old.Wants.From(want.Seen))
	for _, k := range want.Kinds() {
		if names := seen.Named(k); len(names) > 0 && (seenAll || k == want.Variable || k == want.Host) {
			out = append(out, k.Title(want.Seen)+": "+strings.Join(names, " "))
		}
	}
	freed := old.Forgoes.Minus(now.Forgoes).Named(want.Tool)
	switch {
	case fresh.Has(want.Of(want.Tool, want.Any)):
		out = append(out, "tools: all, without restriction")
	case len(freed) > 0 && len(now.Wants.Kind(want.Tool)) > 0:
		out = append(out, "tools: no longer except "+strings.Join(freed, " "))
	}
	return append(out, newPrograms(old, now)...)
}

// newPrograms names the files that may run and were not there before.
func newPrograms(old, now *trust.Approval) []string {
	known := map[string]bool{}
	for _, f := range old.Files {
		known[f.Path] = true
	}
	var out []string
	for _, f := range now.Files {
		if !known[f.Path] && (grants.MayRun(f.Path) || f.Link) {
			out = append(out, fmt.Sprintf("new file that may run: %s", f.Path))
		}
	}
	return out
}

// askedLines says what the manifest asks for. A sub-agent and its model stand first: a short question has the first lines.
func (p *Proposal) askedLines() []string {
	var fork, lines []string
	for _, g := range groupsOf(p.approval.Wants) {
		if g.title == want.Agent.Title(want.Declared) || g.title == want.Model.Title(want.Declared) {
			fork = append(fork, p.withNews(&g))
		} else {
			lines = append(lines, asksFor+p.withNews(&g))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "  declares no permissions")
	}
	if len(fork) > 0 {
		lines = slices.Insert(lines, 0, asksFor+strings.Join(fork, ", "))
	}
	return lines
}

// withNews returns a line with what is new in it since the approval before: the new items stand first, so that a line that is cut
// has them.
func (p *Proposal) withNews(g *group) string {
	if p.before == nil {
		return g.String()
	}
	before := listed(groupsOf(p.before.Wants), g.title)
	if before == nil {
		return g.String() + " (new)"
	}
	var first, rest []string
	for _, item := range g.items {
		if slices.Contains(before, item) {
			rest = append(rest, item)
		} else {
			first = append(first, item+" (new)")
		}
	}
	text := g.title + ": " + strings.Join(append(first, rest...), " ")
	if dropped := without(before, g.items...); len(dropped) > 0 {
		text += "; no longer " + strings.Join(dropped, " ")
	}
	return text
}

// listed returns the items of the group with a title, nil if there is none.
func listed(groups []group, title string) []string {
	for _, g := range groups {
		if g.title == title {
			return g.items
		}
	}
	return nil
}

// droppedLines says what the manifest no longer asks for.
func (p *Proposal) droppedLines() []string {
	if p.before == nil {
		return nil
	}
	var lines []string
	now := groupsOf(p.approval.Wants)
	for _, was := range groupsOf(p.before.Wants) {
		if listed(now, was.title) == nil {
			lines = append(lines, "  no longer asks for "+was.String())
		}
	}
	return lines
}

// without returns a list without some items.
func without(list []string, items ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(have string) bool { return slices.Contains(items, have) })
}
