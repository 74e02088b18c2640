package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limits on what is read of a SKILL.md (security 2.1).
const (
	MaxFrontMatter = 64 << 10
	MaxManifest    = 1 << 20
)

// maxSigns is how many signs that begin a value the front matter may have; the fullest of 460 public manifests has 122.
// Whatever skim accepts has fewer, being shorter.
const maxSigns = skimLimit

// maxProblems bounds how many problems one file is told of; the first that makes it unusable is
// always told.
const maxProblems = 100

// ParseOptions tells Parse about the file. The zero value is useful.
type ParseOptions struct {
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
// fallback (C1); Description is that of the last key `description`, treated alike. Neither is
// resolved to a number, a date or null. Parse is safe for concurrent use and keeps nothing of src.
func Parse(src []byte, o *ParseOptions) (*Manifest, []Problem) {
	p := newParser(o)
	if err := p.profile.check(); err != nil {
		p.report(Problem{Code: "profile-unknown", Message: err.Error()})
	}
	p.parse(src)
	sortByPlace(p.problems)
	if p.untold > 0 {
		p.problems = append(p.problems, Problem{Code: "problems-many", Severity: Warning, File: p.file,
			Message: fmt.Sprintf("%d more problems are not listed", p.untold), Cure: findRule("problems-many").cure})
	}
	return p.m, p.problems
}

type parser struct {
	file, dir string
	profile   *Profile
	m         *Manifest
	problems  []Problem
	untold    int
	unusable  bool   // a fatal problem has been told
	told      string // the name that problems speak of

	text    *frontText
	entries []entry
	edits   []edit // what repair changed in lines of text
	named   bool

	toolsLost int // line of an allowed-tools inside what could not be read; 0 for none
	metaTags  []string
}

func newParser(o *ParseOptions) *parser {
	if o == nil {
		o = &ParseOptions{}
	}
	p := &parser{file: cmp.Or(o.File, "SKILL.md"), dir: o.Dir, profile: o.Profile}
	p.m = &Manifest{DefaultEnabled: true, UserInvocable: true, Background: true, Name: fallbackName("", o.Dir)}
	return p
}

// report adds a problem of the given code, place, field and message; what the profile says of the
// code is filled in. It drops what the profile does not check.
func (p *parser) report(pr Problem) {
	r := findRule(pr.Code)
	pr.Severity = r.severity(p.profile.column())
	if pr.Severity == Off {
		return
	}
	pr.File = p.file
	pr.Fatal = r.fatal || pr.Severity == Error && p.profile.Strict()
	pr.Cure = cmp.Or(pr.Cure, r.cure)
	if pr.Line > 0 && pr.Col == 0 {
		pr.Col = 1
	}
	if w := p.profile.words(&pr, p.told, p.dir); w != "" {
		pr.Message = w
	}
	pr.Message = printable(pr.Message)
	same := func(q Problem) bool { return q.Line == pr.Line && q.Col == pr.Col && q.Message == pr.Message }
	if slices.ContainsFunc(p.problems, same) {
		return
	}
	if len(p.problems) >= maxProblems && (p.unusable || !pr.Fatal) {
		p.untold++
		return
	}
	p.unusable = p.unusable || pr.Fatal
	p.problems = append(p.problems, pr)
}

// parse takes the file apart. It stops where nothing is left to read.
func (p *parser) parse(src []byte) {
	if pr := unreadable(src); pr != nil {
		p.report(*pr)
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

func sortByPlace(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// printable keeps NUL and broken characters out of messages that quote the file.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}
