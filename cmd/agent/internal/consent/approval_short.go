package consent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/want"
)

// Bounds of the short form of a question, which fits a screen of 80 columns and 24 rows with the question below it.
const (
	shortColumns = 74
	shortFiles   = 3 // that may run
	shortAsked   = 2 // permissions
	shortGrown   = 7 // things that an update asks for in addition
	shortRows    = 9 // before hosts, if these are to have two rows
)

// asksFor begins a line that is a list.
const asksFor = "  asks for "

// Short describes what the approval is about on one screen, and reports whether that is all of it. It names the first files
// that may run and counts the others. home is the user's, which a path begins with as ~.
func (p *Proposal) Short(home string) (lines []string, complete bool) {
	complete = true
	add := func(line string, columns int) {
		short := cutList(line, columns)
		complete = complete && short == ui.Line(line)
		lines = append(lines, short)
	}
	few := func(all []string, most int, rest string) {
		for _, line := range all[:min(len(all), most)] {
			add(line, shortColumns)
		}
		if more := len(all) - most; more > 0 {
			complete = false
			lines = append(lines, fmt.Sprintf("    and %d more%s", more, rest))
		}
	}
	for _, line := range p.head(tilde(p.approval.Dir, home)) {
		add(line, 2*shortColumns)
	}
	few(p.renewalLines(), shortGrown, "")
	if asked := append(p.askedLines(), p.droppedLines()...); p.renewal == nil || len(p.grown) == 0 {
		few(asked, shortAsked, "")
	} else { // the lines above are what is new in these
		few(asked, 0, " that it asks for")
	}
	lines = append(lines, p.contentLine())
	var runs []string
	files := p.files()
	for _, f := range files {
		if f.runs {
			runs = append(runs, "    "+f.line)
		}
	}
	switch others := len(files) - len(runs); {
	case others == 0:
		few(runs, shortFiles, " that may run")
	case len(runs) <= shortFiles:
		complete = false
		are := "are"
		if others == 1 {
			are = "is"
		}
		few(append(runs, fmt.Sprintf("    and %s that %s only read", output.Count(others, "file"), are)), shortFiles+1, "")
	default:
		few(runs, shortFiles, fmt.Sprintf(" that may run, and %d that are only read", others))
	}
	set, unset := p.read()
	for _, part := range []struct {
		title   string
		names   []string
		columns int
	}{{"  reads variables that you have set: ", set, 2 * shortColumns}, {"  reads variables that are not set: ", unset, shortColumns}} {
		row, all := namesRow(part.title, part.names, part.columns)
		lines, complete = append(lines, row...), complete && all
	}
	columns := shortColumns
	if len(lines) <= shortRows {
		columns *= 2
	}
	contacts, all := p.contactLines(columns)
	lines, complete = append(lines, contacts...), complete && all
	_, all = p.givenRow(2 * shortColumns)
	return slices.Concat(lines, p.homeLines(), nonEmpty(p.sandboxLine())), complete && all && len(p.reach.Without(p.reach.Kind(want.Command)...).Minus(p.seen.Wants())) == 0
}

// read returns the variables that the skill declares or reads: those that the operator has, and the others.
func (p *Proposal) read() (set, unset []string) {
	for i := range p.variables {
		v := &p.variables[i]
		name := cutMiddle(v.Name, shortColumns/2)
		switch {
		case !v.Set:
			unset = append(unset, name)
		case v.Provider:
			set = append(set, name+" (a model provider's key)")
		default:
			set = append(set, name)
		}
	}
	return set, unset
}

// namesRow joins names on one line, as many as fit, counts the others, and reports whether there are none. Without names there
// is no line.
func namesRow(title string, names []string, columns int) (row []string, complete bool) {
	if len(names) == 0 {
		return nil, true
	}
	const rest = len(" and 1000 more")
	text := title
	for i, name := range names {
		next := ui.Line(name)
		if i > 0 {
			next = ", " + next
		}
		room := columns
		if i < len(names)-1 {
			room -= rest
		}
		if i > 0 && ui.Width(text)+ui.Width(next) > room {
			return []string{fmt.Sprintf("%s and %d more", text, len(names)-i)}, false
		}
		text += next
	}
	return []string{text}, true
}

// cutMiddle shortens a line by leaving out its middle.
func cutMiddle(line string, columns int) string {
	line = ui.Line(line)
	if ui.Width(line) <= columns {
		return line
	}
	runes := []rune(line)
	for n := len(runes); n > 2; n-- {
		short := string(runes[:n*2/3]) + "…" + string(runes[len(runes)-n/3:])
		if ui.Width(short) <= columns {
			return short
		}
	}
	return line
}

// cutList shortens a line that lists what a skill asks for, or what the check found, by whole items, and counts the others: a line
// without its middle could read as one item. Other lines, and a command, lose their middle.
func cutList(line string, columns int) string {
	separators := " "
	if strings.HasPrefix(line, packages.CheckFound) || strings.HasPrefix(line, packages.LostFiles) {
		separators = ","
	} else if rest, asks := strings.CutPrefix(line, asksFor); !asks || isAlone(rest) {
		return cutMiddle(line, columns)
	}
	title, list, _ := strings.Cut(line, ": ")
	items := splitList(list, separators)
	if ui.Width(ui.Line(line)) <= columns || len(items) < 2 {
		return cutMiddle(line, columns)
	}
	title = cutMiddle(title, columns/2) + ": "
	room := columns - ui.Width(title) - len(" and 1000 more")
	for i := range items {
		items[i] = cutMiddle(items[i], room)
	}
	row, _ := namesRow(title, items, columns)
	return row[0]
}

// splitList splits a list where a separator is outside of parentheses. What is in parentheses after a space belongs to the item
// before it.
func splitList(list, separator string) (out []string) {
	depth, start := 0, 0
	for i := range len(list) {
		switch c := list[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(depth-1, 0)
		case depth == 0 && string(c) == separator && !strings.HasPrefix(list[i+1:], "("):
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	return append(out, strings.TrimSpace(list[start:]))
}

// tilde writes a path below the user's home with ~.
func tilde(path, home string) string {
	if below, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return "~/" + below
	}
	return path
}

// givenRow says what a yes gives, and whether all of it is in the row.
func (p *Proposal) givenRow(columns int) (row []string, complete bool) {
	words := p.choice.words()
	if len(words) == 0 {
		words = []string{"nothing of yours"}
	}
	if i := slices.Index(words, "write"); i >= 0 {
		words[i] = "write in the directory you work in"
	}
	return namesRow("  if you say yes, it gets: ", words, columns)
}

// wordLines explains what may be typed to change a choice.
func (p *Proposal) wordLines() []string {
	lines := []string{
		"Type words to add; - before a word takes it out. Enter changes nothing.",
		"  write  it may write in the directory you work in",
		"  net    it may reach every host",
		"  home   HOME is your own, in place of a private one",
	}
	if slices.ContainsFunc(p.manifest.AllowedTools.Rules, func(r string) bool { return strings.HasPrefix(r, "Bash(") }) {
		lines = append(lines, "  scripts  a command in the sandbox that runs one of its scripts, as its allowed-tools says, is not asked about")
	}
	examples := want.Set{}
	for _, k := range want.Kinds() {
		if k.Usage() != "" && !k.Single() {
			examples = append(examples, want.Of(k, k.Sample()))
		}
	}
	lines = append(lines, "  one thing: "+strings.Join(grants.WordsOf(examples), ", "))
	if p.home != nil {
		lines = append(lines, "  clear-home  its private home is emptied first")
	}
	var names []string
	for _, v := range p.variables {
		if v.Set {
			names = append(names, v.Name)
		}
	}
	if words := grants.WordsOf(p.declared); len(words) > 0 {
		row, _ := namesRow("  it declares: ", words, 2*shortColumns)
		lines = append(lines, row...)
	}
	if hosts := without(p.seen.Wants().Hosts(), p.choice.words()...); len(hosts) > 0 {
		row, _ := namesRow("  hosts in its text: ", hosts, 2*shortColumns)
		lines = append(lines, row...)
	}
	row, _ := namesRow("  variables, such as ", names, 2*shortColumns)
	lines = append(lines, row...)
	row, _ = namesRow("It gets now: ", p.choice.words(), 2*shortColumns)
	return append(lines, row...)
}
