package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/naming"
)

// popup offers what the word before the cursor may become: a file after an @, a command or a skill after a slash.
type popup struct {
	from   int // where the word begins in the input
	offers []offer
	at     int    // the marked one
	note   string // a row below them
	tall   int    // rows that it took: it does not shrink while it is open
}

// offer is one of the things that a popup offers.
type offer struct {
	text  string // what takes the place of the word
	shown string // sanitised
	about string
	there bool // the word is it already
}

// mostOffers is how many rows of a popup are offers at most.
const mostOffers = 8

// fileList are the files of the project, as they were when they were listed last.
type fileList struct {
	names   []fileName
	leftOut int // names that cannot be shown, or that no prompt can mention
	partial bool
	err     error
	listed  time.Time // zero: never
	listing bool
}

// stale is how old a list is that a new popup does not trust.
const stale = 3 * time.Second

// Files are the names of the files of a project, relative to it.
type Files struct {
	Names   []string
	Partial bool // there are more
}

// newFileList prepares a list for searches.
func newFileList(files Files, err error) fileList {
	var names []string
	for _, name := range files.Names {
		if _, ok := mention(name); ok && ui.Line(name) == name {
			names = append(names, name)
		}
	}
	return fileList{names: foldNames(names), leftOut: len(files.Names) - len(names), partial: files.Partial, err: err}
}

// listed takes a new list, and shows it in an open popup.
func (s *state) listed(files fileList) {
	s.files = files
	s.files.listed = s.now
	if s.popup != nil {
		s.offer(s.popup)
	}
}

// offer opens a popup for the word before the cursor, or closes it where there is nothing to offer. before is the one that was open.
func (s *state) offer(before *popup) []effect {
	s.popup = nil
	p, effects := &popup{}, []effect(nil)
	text := s.input.text[:s.input.at]
	from, name, ok := openMention(text)
	switch {
	case ok && s.o.Files != nil:
		p.from = from
		effects = s.offerFiles(p, name)
	case s.input.at == len(s.input.text) && strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \t\n"):
		s.offerCommands(p, text[1:])
	default:
		s.dismissed = -1
		return nil
	}
	if p.from == s.dismissed || len(p.offers) == 0 && p.note == "" {
		return nil
	}
	if s.dismissed = -1; before != nil && before.from == p.from {
		p.tall = before.tall
	}
	s.popup = p
	return effects
}

func (s *state) offerFiles(p *popup, query string) []effect {
	best, count := findNames(s.files.names, query)
	for _, name := range best {
		text, _ := mention(name)
		p.offers = append(p.offers, offer{text: text + " ", shown: name, there: name == query})
	}
	p.note = fmt.Sprintf("%s of %s files", Number(count), Number(len(s.files.names)))
	if s.files.partial {
		p.note += ", not all of them"
	}
	if n := s.files.leftOut; n > 0 {
		p.note += fmt.Sprintf(", %s with odd names left out", Number(n))
	}
	switch {
	case s.files.err != nil:
		p.note = "the files cannot be listed: " + ui.Line(s.files.err.Error())
	case s.files.listed.IsZero():
		p.note = "listing the files"
	case count == 0:
		p.note = "no file fits"
	}
	if s.files.listing || !s.files.listed.IsZero() && s.now.Sub(s.files.listed) < stale {
		return nil
	}
	s.files.listing = true
	return []effect{listFiles{}}
}

// offerCommands offers the commands, skills and prompts of servers that begin as what was typed does.
func (s *state) offerCommands(p *popup, begun string) {
	add := func(name, about string) {
		if slices.ContainsFunc(p.offers, func(o offer) bool { return o.shown == "/"+name }) {
			return
		}
		text := "/" + name
		if !strings.HasSuffix(name, ":") { // a label, which a name follows
			text += " "
		}
		o := offer{text: text, shown: ui.Line("/" + name), about: ui.Line(about), there: name == begun || name == naming.Canonical(begun)}
		if o.there {
			p.offers = slices.Insert(p.offers, 0, o)
		} else {
			p.offers = append(p.offers, o)
		}
	}
	for _, c := range s.commands() {
		if strings.HasPrefix(c.Name, begun) {
			add(c.Name, strings.TrimSpace(c.Usage+"  "+c.Help))
		}
	}
	for _, k := range s.o.Skills() {
		if !k.Refused && strings.HasPrefix(k.Name, naming.Canonical(begun)) {
			add(k.Name, "skill: "+k.About)
		}
	}
	for _, name := range s.prompts(begun) {
		add(name, "prompt of an MCP server")
	}
}

// popupKey handles a key while a popup is open. It reports whether the popup took it.
func (s *state) popupKey(k keyEvent) bool {
	p := s.popup
	if p == nil || len(p.offers) == 0 && k.key != "esc" {
		return false
	}
	switch k.key {
	case "up", "ctrl+p":
		p.at = (p.at + len(p.offers) - 1) % len(p.offers)
	case "down", "ctrl+n":
		p.at = (p.at + 1) % len(p.offers)
	case "esc":
		s.popup, s.dismissed = nil, p.from
	case "enter", "kpenter":
		if p.offers[p.at].there {
			return false // it can be sent
		}
		s.choose(p)
	case "tab":
		s.choose(p)
	default:
		return false
	}
	return true
}

// choose puts the marked offer in place of the word.
func (s *state) choose(p *popup) {
	rest := s.input.text[s.input.at:]
	text := p.offers[p.at].text
	if strings.HasPrefix(rest, " ") {
		text = strings.TrimSuffix(text, " ")
	}
	s.popup = nil
	e := editor{text: s.input.text[:p.from] + rest, at: p.from}
	if !e.insert(text) {
		s.hint = tooLong
		return
	}
	if s.input = e; !strings.HasSuffix(text, " ") && rest == "" {
		s.offer(nil)
	}
}

// popupRows shows the popup in at most that many rows.
func (s *state) popupRows(most int) []string {
	p := s.popup
	if p == nil || most < 1 {
		return nil
	}
	n := min(len(p.offers), mostOffers, max(most-1, 1))
	from := min(max(p.at-n+1, 0), max(len(p.offers)-n, 0))
	var rows []string
	first := 0
	for _, o := range p.offers {
		first = max(first, ui.Columns(o.shown))
	}
	first = min(first, max(s.room()/2, 20))
	for i, o := range p.offers[from : from+n] {
		rows = append(rows, s.offerRow(&o, first, from+i == p.at))
	}
	if note := p.note; note != "" && most > n {
		rows = append(rows, s.paint.dim(ui.Cut("    "+note, s.room())))
	} else if more := len(p.offers) - n; more > 0 && most > n {
		rows = append(rows, s.paint.dim(ui.Cut(fmt.Sprintf("    %d more", more), s.room())))
	}
	for len(rows) < min(p.tall, most) {
		rows = append(rows, "")
	}
	p.tall = len(rows)
	return rows
}

// offerRow shows an offer. The first column is so wide.
func (s *state) offerRow(o *offer, first int, marked bool) string {
	mark, name := "    ", func(text string) string { return text }
	if marked {
		mark, name = "  > ", func(text string) string { return s.paint.bold(text) }
	}
	if o.about == "" {
		return s.paint.cyan(mark) + name(ui.CutFront(o.shown, s.room()-len(mark)))
	}
	shown := ui.Cut(o.shown, first)
	about := ui.Cut(o.about, s.room()-len(mark)-first-2)
	row := s.paint.cyan(mark) + name(shown)
	if about != "" {
		row += strings.Repeat(" ", first-ui.Columns(shown)+2) + s.paint.dim(about)
	}
	return row
}
