package manifest

import (
	"cmp"
	"fmt"
	"unsafe"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// Limits for reading a SKILL.md.
const (
	MaxFrontMatter = 64 << 10 // bytes
	MaxManifest    = 1 << 20  // bytes of the whole file
)

// maxSigns is the maximum number of value indicators in the front matter; the fullest of 460 public manifests has 122.
const maxSigns = 4096

// Options configures Parse. The zero value is useful.
type Options struct {
	File    string   // name of the file in problems; default "SKILL.md"
	Dir     string   // name of the skill's directory; "" when unknown
	Profile *Profile // nil means DefaultProfile

	// Summary leaves out what a list of skills does not need: Manifest.Body, Manifest.Fields, a Manifest.Brief that follows
	// from the description, and the texts of lists and maps in Manifest.Metadata. The problems are the same, but for
	// those of a text after the front matter that is not UTF-8: src may be only the beginning of a file.
	Summary bool
	// Borrow makes the texts of the manifest and of its problems parts of the memory of src, which the caller then must not
	// change while they are used. Without it they are copies.
	Borrow bool
}

func (o *Options) dir() string {
	if o == nil {
		return ""
	}
	return o.Dir
}

// Parse reads the text of a SKILL.md. It never fails and never returns nil: it returns the best manifest that the text
// allows and every problem it has, in file order. A skill is unusable if one of the problems is Fatal.
//
// The front matter begins with a line "---" and ends with the next one; spaces may follow either. Parse skips leading
// blank lines, a byte order mark and up to 30 lines of other text, and reports a problem. Values are taken as text.
// Name is that of the last key `name`, in any case, without control characters and surrounding white space, if
// CheckName accepts it, else a fallback. Description is that of the last key `description`, treated in the same way.
// Neither is resolved to a number, a date or null. Parse is safe for concurrent use and keeps no reference to src, except
// with Options.Borrow.
func Parse(src []byte, o *Options) (*Manifest, []Problem) {
	var r Reader
	return r.Parse(src, o)
}

// Reader parses manifests one after another and reuses its memory. The zero value is ready to use. A Reader must not be
// copied after its first use and is not safe for concurrent use.
type Reader struct{ p parser }

// Parse is like the function Parse. The manifest and the problems are valid until the next call of r.Parse. Their texts
// stay valid, but each may keep a copy of the whole front matter in memory: use strings.Clone for a text to keep.
func (r *Reader) Parse(src []byte, o *Options) (*Manifest, []Problem) {
	p := &r.p
	p.reset(o)
	if err := p.Profile.Check(); err != nil {
		p.problem("profile-unknown", place{}, "%s", err.Error())
	}
	if !p.parse(src) { // the manifest allows nothing
		p.m.AllowedTools = Tools{Declared: true}
	}
	if p.m.Name == "" {
		p.m.Name = fallbackName("", o.dir())
	}
	return p.m, p.Problems()
}

// End returns the offset at which the fields of the text end that r.Parse read last: that of the line that closes the front matter, or
// that of the body's first line if none does. It returns 0 if there is no front matter.
func (r *Reader) End(src []byte) int { return r.p.text.closer(src) }

type parser struct {
	Report
	m *Manifest

	yaml    yamlnode.Reader
	limits  yamlnode.Options // options for yaml
	text    frontText
	entries []entry
	unknown map[string]int    // index of the last entry with each unknown key
	cures   map[string]string // cures for unknown keys found so far
	edits   []edit            // changes of repair to lines of text
	below   []entry           // keys that would restrict the skill if they did not stand below the end of the front matter
	named   bool
	summary bool // see Options
	borrow  bool

	stripped  []int // lines of the file with characters that were left out
	toolsLost int   // line of an allowed-tools inside unreadable text; 0 for none
	metaTags  []string
	needs     needs
	spare     map[string]string // memory for Metadata
}

func newParser(o *Options) *parser {
	p := &parser{}
	p.reset(o)
	return p
}

// place is the position of a problem in the file, and the field that it is about, if any.
type place struct {
	line, col int
	field     string
}

// on returns the place of a value or a key.
func on(n *yamlnode.Node, field string) place { return place{n.Line, n.Col, field} }

// problem reports a problem. It fills in what the profile's rule for the code says.
func (p *parser) problem(code string, at place, format string, args ...any) {
	if rule := p.checks(code); rule != nil {
		p.add(rule, Problem{Code: code, Line: at.line, Col: at.col, Field: at.field, Message: fmt.Sprintf(format, args...)})
	}
}

// reset prepares p for the next manifest.
func (p *parser) reset(o *Options) {
	if o == nil {
		o = &Options{}
	}
	p.Report = Report{File: cmp.Or(o.File, "SKILL.md"), Profile: o.Profile, dir: o.Dir, problems: p.problems[:0]}
	if p.m == nil {
		p.m = new(Manifest)
	}
	if p.m.Metadata != nil {
		p.spare = p.m.Metadata
	}
	fields := p.m.Fields[:0]
	*p.m = Manifest{}
	p.m.DefaultEnabled, p.m.UserInvocable, p.m.Background, p.m.Fields = true, true, true, fields
	p.stripped = p.stripped[:0]
	p.text = frontText{lines: p.text.lines[:0]}
	p.summary, p.borrow = o.Summary, o.Borrow
	clear(p.unknown)
	p.entries, p.edits, p.named, p.toolsLost, p.metaTags, p.needs = p.entries[:0], nil, false, 0, nil, needs{}
	p.below = nil
}

// parse parses the file. It stops and returns false if nothing is left to read.
func (p *parser) parse(src []byte) bool {
	plain := p.text.plain(src)
	if !plain || !p.summary && p.text.end+1 < len(src) { // plain says that the text up to there is readable
		pr := unreadable(src)
		if pr != nil && p.summary { // what follows the front matter may be to blame
			if end := HeadEnd(src); end > 0 && unreadable(src[:end]) == nil {
				src, pr = src[:end], nil
			}
		}
		if pr != nil {
			p.Add(*pr)
			return false
		}
	}
	if !plain && !p.splitLines(src) {
		return false
	}
	readable := p.nodes(src)
	if !plain && p.text.how == endsAlone && p.text.end == len(src) {
		p.problem("frontmatter-eof", place{line: p.text.after - 1}, "the file ends right after the closing ---")
	}
	if !p.summary {
		body, line := p.text.body(src)
		p.m.BodyLine = line
		if p.borrow {
			p.m.Body = unsafe.String(unsafe.SliceData(body), len(body))
		} else {
			p.m.Body = string(body)
		}
	}
	if !readable {
		return false
	}
	p.entries = append(p.entries, p.below...)
	p.fields(p.entries)
	p.finish()
	return true
}
