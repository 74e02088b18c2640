package manifest

import (
	"cmp"
	"fmt"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Limits on what is read of a SKILL.md.
const (
	MaxFrontMatter = 64 << 10
	MaxManifest    = 1 << 20
)

// maxSigns is how many signs that begin a value the front matter may have; the fullest of 460 public manifests has 122.
// Whatever skim accepts has fewer, being shorter.
const maxSigns = skimLimit

// Options tells Parse about the file. The zero value is useful.
type Options struct {
	File    string   // what problems call the file; default "SKILL.md"
	Dir     string   // name of the skill's directory; "" when unknown
	Profile *Profile // nil means DefaultProfile
}

// Parse reads the text of a SKILL.md. It never fails and never returns nil: it gives the best
// manifest that the text allows and every problem it has, in file order. A skill is unusable when
// one of the problems is Fatal.
//
// The front matter begins with a line "---" and ends with the next one; blanks may follow either.
// Leading blank lines, a byte order mark and up to 30 lines of other text are passed over with a
// problem. Values are taken as text: Name is that of the last key `name`, in any case, without
// control characters and without white space around it, when CheckName accepts it, else a
// fallback; Description is that of the last key `description`, treated alike. Neither is
// resolved to a number, a date or null. Parse is safe for concurrent use and keeps nothing of src.
func Parse(src []byte, o *Options) (*Manifest, []Problem) {
	p := newParser(o)
	if err := p.Profile.Check(); err != nil {
		p.problem("profile-unknown", place{}, "%s", err.Error())
	}
	p.parse(src)
	if p.entries == nil { // it could not be read: it allows nothing
		p.m.AllowedTools = Tools{Declared: true}
	}
	return p.m, p.Problems()
}

type parser struct {
	Report
	m *Manifest

	text    *frontText
	entries []entry
	edits   []edit // what repair changed in lines of text
	named   bool

	toolsLost int // line of an allowed-tools inside what could not be read; 0 for none
	metaTags  []string
}

func newParser(o *Options) *parser {
	if o == nil {
		o = &Options{}
	}
	p := &parser{Report: Report{File: cmp.Or(o.File, "SKILL.md"), Profile: o.Profile, dir: o.Dir}}
	p.m = &Manifest{DefaultEnabled: true, UserInvocable: true, Background: true, Name: fallbackName("", o.Dir)}
	return p
}

// place is where a problem stands in the file, and the field that it is about, if any.
type place struct {
	line, col int
	field     string
}

// on returns the place of a value or a key.
func on(n *yamlnode.Node, field string) place { return place{n.Line, n.Col, field} }

// problem reports a problem. What the profile's rule for the code says is filled in.
func (p *parser) problem(code string, at place, format string, args ...any) {
	p.Add(Problem{Code: code, Line: at.line, Col: at.col, Field: at.field, Message: fmt.Sprintf(format, args...)})
}

// parse takes the file apart. It stops where nothing is left to read.
func (p *parser) parse(src []byte) {
	if pr := unreadable(src); pr != nil {
		p.Add(*pr)
		return
	}
	text := p.split(src)
	if text == nil {
		return
	}
	p.text = text
	body, line := text.body(src)
	p.m.Body, p.m.BodyLine = string(body), line
	entries, ok := p.nodes()
	if !ok {
		return
	}
	p.entries = entries
	p.fields(entries)
	p.finish()
}
