package skill

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill/manifest"
)

// record is what was found of one skill in one source. It is not written to once its source has been read. All
// catalogues that see the skill unchanged share it.
//
// Catalogues of many thousand skills consist mostly of records, so a record keeps all its texts in one string, and has
// details only if it has something that few skills have.
type record struct {
	text  string // path, description, version and packed problems with their length, in this order
	more  *details
	stamp Stamp

	lenAbout, lenVersion uint16 // bytes of text
	flags                flags
}

// flags are the boolean facts about a skill.
type flags uint8

const (
	isLower     flags = 1 << iota // the manifest is called skill.md
	isHidden                      // disable-model-invocation
	isOff                         // default_enabled: false
	isManual                      // user-invocable: false
	isFatal                       // it has a fatal problem
	hasProblems                   // text ends with packed problems
	hasToolsets                   // toolsets is not empty
	isDraft                       // nobody has written its description
)

// details is data that only some skills have.
type details struct {
	name, canonical string // "" if they follow from the path
	kept            *kept
	problems        []manifest.Problem                  // of a skill that the source could not read
	open            func(context.Context) (Tree, error) // of a source that is not a home
	digest          string                              // likewise: Found.Digest
	place           string                              // likewise: Found.Place
	plain           *record                             // with the name as written, of a skill of a server that has another name here
}

// kept is data that only some manifests have.
type kept struct {
	about, version         string // if they do not fit into the text
	brief, when            string
	minVersion, maxVersion string
	tags                   []string
	requires, variables    []string // commands and environment variables
	any, systems           []string // commands and operating systems of which one is required
	skills                 []string // that it requires
	triggers               manifest.Triggers
	scope                  manifest.Scope
	priority               int
}

// lenProblems returns how many bytes of text the packed problems and their length take.
func (r *record) lenProblems() int {
	if r.flags&hasProblems == 0 {
		return 0
	}
	t := r.text[len(r.text)-4:]
	return 4 + (int(t[0]) | int(t[1])<<8 | int(t[2])<<16 | int(t[3])<<24)
}

// aboutAt returns where the description begins in the text.
func (r *record) aboutAt() int {
	return len(r.text) - r.lenProblems() - int(r.lenVersion) - int(r.lenAbout)
}

func (r *record) path() string { return r.text[:r.aboutAt()] }

func (r *record) digest() string {
	if r.more == nil {
		return ""
	}
	return r.more.digest
}

func (r *record) file() string {
	if r.flags&isLower != 0 {
		return "skill.md"
	}
	return "SKILL.md"
}

func (r *record) name() string {
	if r.more != nil && r.more.name != "" {
		return r.more.name
	}
	return r.canonical()
}

func (r *record) canonical() string {
	if r.more != nil && r.more.canonical != "" {
		return r.more.canonical
	}
	p := r.path()
	return p[strings.LastIndexByte(p, '/')+1:]
}

func (r *record) description() string {
	if k := r.kept(); k != nil && k.about != "" {
		return k.about
	}
	at := r.aboutAt()
	return r.text[at : at+int(r.lenAbout)]
}

func (r *record) version() string {
	if k := r.kept(); k != nil && k.version != "" {
		return k.version
	}
	at := r.aboutAt() + int(r.lenAbout)
	return r.text[at : at+int(r.lenVersion)]
}

// kept returns the data that only few manifests have, or nil.
func (r *record) kept() *kept {
	if r.more == nil {
		return nil
	}
	return r.more.kept
}

// plain reports whether a skill is enabled unless a rule of the options says otherwise.
func (r *record) plain() bool {
	return r.flags&(isFatal|isHidden|isOff|isDraft) == 0 && r.kept() == nil
}

// problems returns the problems of the manifest. file is the name of the manifest in them.
func (r *record) problems(file string) []manifest.Problem {
	if r.more != nil && r.more.problems != nil {
		return r.more.problems
	}
	n := r.lenProblems()
	if n == 0 {
		return nil
	}
	return manifest.UnpackProblems(r.text[len(r.text)-n:len(r.text)-4], file)
}

func firstFatal(list []manifest.Problem) *manifest.Problem {
	for i := range list {
		if list[i].Fatal {
			return &list[i]
		}
	}
	return nil
}

// arena makes records in batches, with the texts of many in one string. It belongs to one goroutine.
type arena struct {
	records []record
	open    []*record // records that have no text yet
	ends    []int     // where the text of each ends
	text    []byte
}

// These sizes fill the runtime's blocks of 2 and 28 KiB exactly, and waste little if a reader does not fill them.
const (
	runRecords = 31
	runText    = 28 << 10
)

// add makes a record. The record has its text once the arena is closed.
func (a *arena) add(dir string, m *manifest.Manifest, problems []manifest.Problem) *record {
	if len(a.text)+len(dir)+len(m.Description)+len(m.Version)+64*len(problems) > runText {
		a.close()
	}
	if len(a.records) == cap(a.records) {
		a.records = make([]record, 0, runRecords)
	}
	a.records = append(a.records, record{})
	r := &a.records[len(a.records)-1]
	a.text = append(a.text, dir...)
	if k := keep(m); k != nil {
		r.more = &details{kept: k}
	}
	if k := r.kept(); k == nil || k.about == "" {
		a.text, r.lenAbout = append(a.text, m.Description...), uint16(len(m.Description))
	}
	if k := r.kept(); k == nil || k.version == "" {
		a.text, r.lenVersion = append(a.text, m.Version...), uint16(len(m.Version))
	}
	if len(problems) > 0 {
		from := len(a.text)
		a.text = manifest.PackProblems(a.text, problems)
		a.text = binary.LittleEndian.AppendUint32(a.text, uint32(len(a.text)-from))
	}
	r.flags = flagsOf(m, problems)
	a.open, a.ends = append(a.open, r), append(a.ends, len(a.text))
	return r
}

func flagsOf(m *manifest.Manifest, problems []manifest.Problem) flags {
	var f flags
	for _, is := range [...]struct {
		true bool
		flag flags
	}{{m.DisableModelInvocation, isHidden}, {!m.DefaultEnabled, isOff}, {!m.UserInvocable, isManual}, {len(m.Toolsets) > 0, hasToolsets},
		{len(problems) > 0, hasProblems}, {firstFatal(problems) != nil, isFatal}, {isUnwritten(problems), isDraft}} {
		if is.true {
			f |= is.flag
		}
	}
	return f
}

// isUnwritten reports whether the description is one that models cannot choose by.
func isUnwritten(problems []manifest.Problem) bool {
	return slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Code == "description-unwritten" })
}

// keep returns the data that only few manifests have, or nil. It shares no memory with m.
func keep(m *manifest.Manifest) *kept {
	wide := len(m.Description) > math.MaxUint16 || len(m.Version) > math.MaxUint16
	if !wide && m.Brief == "" && m.WhenToUse == "" && m.MinVersion == "" && m.MaxVersion == "" && len(m.Tags) == 0 &&
		len(m.Requires)+len(m.RequiresEnv)+len(m.RequiresAny)+len(m.Systems)+len(m.RequiresSkills) == 0 && m.Triggers.Empty() && m.Priority == 0 &&
		m.Scope.Empty() {
		return nil
	}
	k := &kept{
		brief: strings.Clone(m.Brief), when: strings.Clone(m.WhenToUse),
		minVersion: strings.Clone(m.MinVersion), maxVersion: strings.Clone(m.MaxVersion),
		tags: cloned(m.Tags), requires: cloned(m.Requires), variables: cloned(m.RequiresEnv), any: cloned(m.RequiresAny), systems: cloned(m.Systems), skills: cloned(m.RequiresSkills), priority: m.Priority,
		triggers: manifest.Triggers{Keywords: cloned(m.Triggers.Keywords), Verbs: cloned(m.Triggers.Verbs), Patterns: cloned(m.Triggers.Patterns)},
		scope:    manifest.Scope{Agents: cloned(m.Scope.Agents), Tenants: cloned(m.Scope.Tenants), Environments: cloned(m.Scope.Environments), Unclear: m.Scope.Unclear},
	}
	if wide {
		k.about, k.version = strings.Clone(m.Description), strings.Clone(m.Version)
	}
	return k
}

// cloned copies a list and its texts.
func cloned(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = strings.Clone(s)
	}
	return out
}

// close sets the texts of the records.
func (a *arena) close() {
	all, start := string(a.text), 0
	for i, end := range a.ends {
		a.open[i].text = all[start:end]
		start = end
	}
	a.open, a.ends, a.text = a.open[:0], a.ends[:0], a.text[:0]
}

// reading makes records of what a source found. Only one goroutine at a time may use it. The records have their texts
// once the arena is closed.
type reading struct {
	sync.Mutex // held by the worker that uses it, where several do

	part    *part
	profile *manifest.Profile
	arena   arena
	reader  manifest.Reader
	options manifest.Options
}

// record reads the head of a manifest.
func (rd *reading) record(f *Found) *record {
	rd.options = manifest.Options{Dir: rd.part.base(f.Path), Profile: rd.profile, Summary: true, Borrow: true}
	m, problems := rd.reader.Parse(wholeRunes(f.Head), &rd.options)
	if f.File == "skill.md" {
		problems = append(problems, manifest.Problem{Code: "file-name", Severity: manifest.SeverityWarning,
			Message: `manifest is called "skill.md"`, Cure: `rename it to "SKILL.md": many tools look for no other name`})
	}
	r := rd.arena.add(f.Path, m, problems)
	r.called(m.Name, f.Path)
	r.stamp = f.Stamp
	if f.File == "skill.md" {
		r.flags |= isLower
	}
	return r
}

// wholeRunes returns b without an incomplete character at its end. The part of a file that was read may end anywhere.
func wholeRunes(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// called sets the name of the record, if it does not follow from the path.
func (r *record) called(name, path string) {
	if canonical := manifest.Canonical(name); canonical != name || name != path[strings.LastIndexByte(path, '/')+1:] {
		if r.more == nil {
			r.more = &details{}
		}
		r.more.name = strings.Clone(name)
		if r.more.canonical = r.more.name; canonical != name {
			r.more.canonical = canonical
		}
	}
}

// broken makes the record of a manifest that cannot be read.
func (rd *reading) broken(f *Found, err error) *record {
	p, ok := err.(*manifest.Problem)
	if !ok {
		p = fileProblem(rd.part.file(f.Path, f.File), err)
	}
	r := &record{text: strings.Clone(f.Path), stamp: f.Stamp, more: &details{problems: []manifest.Problem{*p}}} // f.Path is part of one string with all names of its folder
	if p.Fatal {
		r.flags |= isFatal
	}
	if f.File == "skill.md" {
		r.flags |= isLower
	}
	r.called(rd.part.base(f.Path), f.Path)
	return r
}

// contentStamp identifies the text of a manifest, for sources that have no stamp of their own.
func contentStamp(head []byte) Stamp {
	sum := sha256.Sum256(head)
	return Stamp{Size: int64(len(head)), MTime: int64(binary.LittleEndian.Uint64(sum[:])),
		CTime: int64(binary.LittleEndian.Uint64(sum[8:])), Inode: binary.LittleEndian.Uint64(sum[16:])}
}
