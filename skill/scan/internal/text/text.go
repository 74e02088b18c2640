// Package text reads what a text holds and tells a model, whatever its language: secrets, hidden text, and phrases that no skill needs.
package text

import (
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// limits of the facts of one text.
const (
	maxFound  = 20  // of each kind
	maxDetail = 200 // bytes
)

// Form is how a text is read.
type Form struct {
	Document bool             // it is for people or a model: what it tells is read
	Data     bool             // what it tells is in it with escapes
	Markup   bool             // it is XML, whose elements have what it tells
	Program  *language.Syntax // what its comments tell is read; nil for other texts
}

// Read returns the facts of a text: the secrets and the hidden text in any file, and what it tells a model. partly says why not all of
// it was read, "" if it was. Read is safe for concurrent use.
func Read(text string, place fact.Place, form Form) (facts []fact.Fact, partly string) {
	r := &reader{text: text, place: place}
	r.hidden()
	r.secrets()
	switch {
	case form.Program != nil:
		told, other := prose(text, form.Program)
		r.says(told, false)
		r.says(other, true)
	case form.Data:
		lines := []byte(text)
		breaks(lines)
		r.says(string(lines), false)
	case form.Markup && r.markup():
	case form.Document:
		r.says(text, false)
		r.prerequisites()
	}
	return r.facts, r.partly
}

type reader struct {
	text   string
	place  fact.Place
	facts  []fact.Fact
	partly string
	line   int // the line ends before at
	at     int
}

// add adds a fact about an offset.
func (r *reader) add(offset int, f fact.Fact) {
	if offset < r.at {
		r.at, r.line = 0, 0
	}
	r.line += strings.Count(r.text[r.at:offset], "\n")
	r.at = offset
	f.Place = r.place
	f.Place.Line = max(r.place.Line, 1) + r.line
	f.Detail = strings.ToValidUTF8(f.Detail[:min(len(f.Detail), maxDetail)], "")
	r.facts = append(r.facts, f)
}

func (r *reader) secrets() {
	for _, s := range redact.Find(r.text, maxFound) {
		if value := r.text[s.Begin:s.End]; live(s.Kind, value, r.text[:s.Begin]) {
			r.add(s.Begin, fact.Fact{Kind: fact.Holds, Object: fact.Secret, Name: s.Kind, Detail: value[:min(len(value), 4)] + "…"})
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// quotes are words of a text about attacks.
var quotes = lazyregexp.New(`(?i)\b(?:attack(?:s|ers?)?|injections?|injected|malicious|adversar(?:y|ial)|detect(?:s|ed|ion)?|flag(?:s|ged)?|reject(?:s|ed)?|suspicious|phishing|jailbreaks?|red-team(?:ing)?|dangerous|vulnerabilit(?:y|ies)|exploits?)\b`)

// maxSpan is how far above a saying the heading of its section, or the line before a list or a block, is looked for, in bytes.
const maxSpan = 4000

// roleAt returns the role of a saying by the rest of its line, within 300 bytes, by the heading above it, and by the line that
// introduces what it stands in.
func (r *reader) roleAt(begin, end int) fact.Role {
	before := r.text[max(0, begin-300):begin]
	after := r.text[end:min(len(r.text), end+300)]
	after, _, _ = strings.Cut(after, "\n")
	if quotes().MatchString(before[strings.LastIndexByte(before, '\n')+1:]) || quotes().MatchString(after) || AboutAttacks(r.place.File, r.text) {
		return fact.Against
	}
	above := "\n" + r.text[max(0, begin-maxSpan):begin]
	if i := strings.LastIndex(above, "\n#"); i >= 0 {
		heading, rest, _ := strings.Cut(above[i+1:], "\n")
		if quotes().MatchString(heading) {
			return fact.Against
		}
		above = rest
	}
	if i := strings.LastIndex(above, ":\n"); i >= 0 && !strings.Contains(above[i:], "\n\n\n") {
		if line := above[strings.LastIndexByte(above[:i], '\n')+1 : i]; quotes().MatchString(line) && list(above[i+2:]) {
			return fact.Against
		}
	}
	return fact.Instruction
}

// AboutAttacks reports whether a document that is no SKILL.md has a title that says that it shows attacks.
func AboutAttacks(file, text string) bool {
	title, _, _ := strings.Cut(strings.TrimLeft(text[:min(len(text), 1000)], " \t\r\n\ufeff"), "\n")
	return strings.HasPrefix(title, "# ") && !strings.EqualFold(path.Base(file), "skill.md") && quotes().MatchString(title)
}

// list reports whether all lines of a text are items, rows, quotes or code.
func list(text string) bool {
	inside := false
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimLeft(l, " \t")
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			inside = !inside
		} else if l != "" && !inside && strings.IndexByte("-*+|>0123456789", l[0]) < 0 {
			return false
		}
	}
	return true
}

// plain returns a text on one line.
func plain(s string) string { return strings.Join(strings.Fields(s[:min(len(s), 4*maxDetail)]), " ") }
