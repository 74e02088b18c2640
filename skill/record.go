package skill

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// record is what was found of one skill in one source. It is never written to once its source has
// been read, and shared by all catalogues that see the skill unchanged.
//
// Catalogues of many thousand skills are made of little else, so a plain skill keeps one string
// for all its texts; whatever has more to say has details.
type record struct {
	text  string // path, description and version, in this order
	more  *details
	stamp Stamp

	lenAbout, lenVersion uint16 // bytes of text; the path is the rest
	lower                bool   // the manifest is called skill.md
}

// details is what only some skills have.
type details struct {
	m         *manifest.Manifest // without Body and Fields; nil for a plain skill
	name      string
	canonical string
	problems  []manifest.Problem
	open      func(context.Context) (Tree, error) // of a source that is no home
}

func (r *record) lenPath() int { return len(r.text) - int(r.lenAbout) - int(r.lenVersion) }

func (r *record) path() string { return r.text[:r.lenPath()] }

func (r *record) file() string {
	if r.lower {
		return "skill.md"
	}
	return "SKILL.md"
}

func (r *record) plain() bool { return r.more == nil || r.more.m == nil }

func (r *record) name() string {
	if r.plain() {
		return r.canonical()
	}
	return r.more.name
}

func (r *record) canonical() string {
	if r.plain() {
		p := r.path()
		return p[strings.LastIndexByte(p, '/')+1:]
	}
	return r.more.canonical
}

func (r *record) description() string {
	if r.plain() {
		return r.text[r.lenPath() : len(r.text)-int(r.lenVersion)]
	}
	return r.more.m.Description
}

func (r *record) version() string {
	if r.plain() {
		return r.text[len(r.text)-int(r.lenVersion):]
	}
	return r.more.m.Version
}

func (r *record) problems() []manifest.Problem {
	if r.more == nil {
		return nil
	}
	return r.more.problems
}

// fatal returns the problem that breaks the skill, nil when there is none.
func (r *record) fatal() *manifest.Problem { return firstFatal(r.problems()) }

func firstFatal(list []manifest.Problem) *manifest.Problem {
	for i := range list {
		if list[i].Fatal {
			return &list[i]
		}
	}
	return nil
}

// arena makes records, some at a time, with the texts of many in one string. It belongs to one
// goroutine.
type arena struct {
	records []record
	open    []*record // those without their text yet
	ends    []int     // where the text of each ends
	text    []byte
}

// Sizes that leave nothing over in the runtime's blocks of 2 and 28 KiB, and little in those that a reader does not fill.
const (
	runRecords = 31
	runText    = 28 << 10
)

func (a *arena) add(dir string, p *manifest.Plain) *record {
	if len(a.text)+len(dir)+len(p.Description)+len(p.Version) > runText {
		a.close()
	}
	if len(a.records) == cap(a.records) {
		a.records = make([]record, 0, runRecords)
	}
	a.records = append(a.records, record{lenAbout: uint16(len(p.Description)), lenVersion: uint16(len(p.Version))})
	r := &a.records[len(a.records)-1]
	a.text = append(append(append(a.text, dir...), p.Description...), p.Version...)
	a.open, a.ends = append(a.open, r), append(a.ends, len(a.text))
	return r
}

// close gives the records their texts.
func (a *arena) close() {
	all, start := string(a.text), 0
	for i, end := range a.ends {
		a.open[i].text = all[start:end]
		start = end
	}
	a.open, a.ends, a.text = a.open[:0], a.ends[:0], a.text[:0]
}

// reading makes records of what a source found, in one goroutine. Plain ones have their texts once the arena was closed.
type reading struct {
	part    *part
	profile *manifest.Profile
	arena   arena
	plain   manifest.Plain // scratch memory
	found   Found
	slots   chan struct{} // of all readings of a source: one is held while YAML is read; nil for no bound
}

// record reads the head of a manifest.
func (rd *reading) record(f *Found) *record {
	base := rd.part.base(f.Path)
	var r *record
	if f.Path != "." && f.File == "SKILL.md" && manifest.Skim(&rd.plain, f.Head, base) {
		r = rd.arena.add(f.Path, &rd.plain)
	} else {
		r = rd.parse(f, base)
	}
	r.stamp, r.lower = f.Stamp, f.File == "skill.md"
	return r
}

// parse reads a head as YAML. Readers that wait for a disk may be many, trees of nodes at once no more than processors:
// else the memory that a hostile folder costs would grow with the readers.
func (rd *reading) parse(f *Found, base string) *record {
	if rd.slots != nil {
		rd.slots <- struct{}{}
		defer func() { <-rd.slots }()
	}
	o := &manifest.Options{File: rd.part.file(f.Path, f.File), Dir: base, Profile: rd.profile}
	head := f.Head
	if n := manifest.HeadEnd(head); n > 0 {
		head = head[:n]
	}
	m, problems := manifest.Parse(head, o)
	if len(head) < len(f.Head) && firstFatal(problems) != nil {
		m, problems = manifest.Parse(f.Head, o)
	}
	if f.File == "skill.md" {
		problems = append(problems, manifest.Problem{Code: "file-name", Severity: manifest.SeverityWarning, File: o.File,
			Message: `manifest is called "skill.md"`, Cure: `rename it to "SKILL.md": many tools look for no other name`})
	}
	return newRecord(f.Path, base, m, withoutBody(problems))
}

// withoutBody drops what is said of the instructions: they are not read for a catalogue.
func withoutBody(in []manifest.Problem) []manifest.Problem {
	var out []manifest.Problem
	for _, p := range in {
		if !strings.HasPrefix(p.Code, "body-") {
			out = append(out, p)
		}
	}
	return out
}

func newRecord(dir, base string, m *manifest.Manifest, problems []manifest.Problem) *record {
	m.Body, m.Fields = "", nil
	name := m.Name
	if name == "" {
		name = base
	}
	return &record{text: strings.Clone(dir), // of one string with all names of its folder

		more: &details{m: m, name: name, canonical: manifest.Canonical(name), problems: problems}}
}

// broken makes the record of a manifest that cannot be read.
func (rd *reading) broken(f *Found, err error) *record {
	p, ok := err.(*manifest.Problem)
	if !ok {
		p = fileProblem(rd.part.file(f.Path, f.File), err)
	}
	base := rd.part.base(f.Path)
	r := newRecord(f.Path, base, &manifest.Manifest{Name: base, DefaultEnabled: true, UserInvocable: true}, []manifest.Problem{*p})
	r.stamp, r.lower = f.Stamp, f.File == "skill.md"
	return r
}

// contentStamp identifies the text of a manifest for sources that have nothing else to tell.
func contentStamp(head []byte) Stamp {
	sum := sha256.Sum256(head)
	return Stamp{Size: int64(len(head)), MTime: int64(binary.LittleEndian.Uint64(sum[:])),
		CTime: int64(binary.LittleEndian.Uint64(sum[8:])), Inode: binary.LittleEndian.Uint64(sum[16:])}
}
