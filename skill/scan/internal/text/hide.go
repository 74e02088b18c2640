package text

import (
	"regexp"
	"strings"

	"github.com/agent-base/agent-base/internal/hidden"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// ways are how a document hides text from those who look at it: each begins as its pattern says, and ends before a text.
var ways = []struct {
	name, hint string // without the hint a text hides nothing so
	pattern    func() *regexp.Regexp
	end        string
}{
	{"imperative comment", "<!--", lazyregexp.New(`<!--`), "-->"},
	{"imperative comment", "]:", lazyregexp.New(`(?m)^\[[^\]\n]+\]:\s*(?:#|<>)[ \t]*["(]`), "\n"},
	{"an element that is not shown", "<", lazyregexp.New(`(?i)<\w[^<>]*?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0?\.?0*\s*[;"']|` +
		`color\s*[:=]\s*["']?(?:white|transparent|#fff(?:fff)?\b|rgba?\(255,\s*255,\s*255)|\shidden[\s>=])[^<>]*>`), "</"},
	{"the description of a picture", "](", lazyregexp.New(`!\[[^\]\n]*\]\(`), ")"},
	{"the title of a link", "](", lazyregexp.New(`\]\([^)\s]+\s+"[^"\n]*"\)`), ""},
}

// Those that have no other use: text behind so many empty lines or spaces.
const (
	manyLines  = 100
	manySpaces = 200
)

// hiding is a place where a document hides text.
type hiding struct {
	begin, end int
	name       string
	sure       bool
	fact       int // -1 until something is said there
}

// hides finds the places where a text hides another; only a document has a way to that but the empty lines and the spaces.
func hides(text string, document bool) []hiding {
	var out []hiding
	for _, w := range ways {
		if !document || !strings.Contains(text, w.hint) {
			continue
		}
		for _, at := range w.pattern().FindAllStringIndex(text, 200) {
			end := strings.Index(text[at[1]:], w.end)
			if end < 0 {
				end = len(text) - at[1]
			}
			out = append(out, hiding{at[0], at[1] + end, w.name, false, -1})
		}
	}
	lines, spaces := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '\n':
			lines, spaces = lines+1, 0
		case ' ', '\t':
			spaces++
		case '\r':
		default:
			if lines > manyLines {
				out = append(out, hiding{i, len(text), "text behind empty lines", true, -1})
			} else if spaces > manySpaces {
				line, _, _ := strings.Cut(text[i:], "\n")
				out = append(out, hiding{i, i + len(line), "text behind spaces", true, -1})
			}
			lines, spaces = 0, 0
		}
	}
	return out
}

// within adds the facts about a saying to those of the place that hides it, and reports whether it counts: what only urges counts there
// alone.
func (r *reader) within(places []hiding, f *fact.Fact, at int) bool {
	kept := f.Name != "urge" && f.Name != "order"
	for i := range places {
		p := &places[i]
		if at < p.begin || at >= p.end || !p.sure && f.Name != "urge" && ordinary(f.Name) {
			continue
		}
		if p.fact < 0 {
			p.fact = len(r.facts)
			r.add(p.begin, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: p.name, Detail: plain(r.text[at:min(p.end, at+maxDetail)])})
		}
		f.From = append(f.From, p.fact)
		kept = kept || p.sure
	}
	return kept
}

// hidden finds what nobody sees, and reads it.
func (r *reader) hidden() {
	first := -1
	for from, n := 0, 0; n < maxFound; n++ {
		f, ok := hidden.Next(r.text, from)
		if !ok {
			break
		}
		if first < 0 {
			first = f.Offset
		}
		r.add(f.Offset, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: f.Kind, Detail: f.What})
		end := strings.IndexByte(r.text[f.Offset:], '\n')
		if end < 0 {
			break
		}
		from = f.Offset + end + 1
	}
	if first < 0 {
		return
	}
	says := hidden.Says(r.text)
	at := len(r.facts) - 1
	r.inner(says, first, at)
	for _, f := range sayings(says).found {
		if f.name == "order" {
			r.add(first, fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: f.name, Detail: plain(says[f.begin:]), From: []int{at}})
			return
		}
	}
}
