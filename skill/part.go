package skill

import (
	"context"
	"errors"
	"path"
	"runtime"
	"slices"

	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill/manifest"
)

// part is one source of a layer with what it contained when it was last read.
type part struct {
	layer  *Layer
	source Source
	root   *walk.Root         // of a Dir source: the handle that loads skills
	list   []*record          // in the order found
	notes  []manifest.Problem // what was left out, and why
	links  []link             // those of the notes that are about links out of the source

	folders []string // of the skills of a source that is no folder, as Found.Folder says
}

// link is a symbolic link that leads out of its source.
type link struct {
	note   int    // index of the part's note about it
	target string // absolute, without symbolic links
}

// home is a source that can find a skill by its path alone.
type home interface {
	// tree opens a skill's files.
	tree(ctx context.Context, p *part, dir string) (Tree, error)
	// location returns a skill's absolute folder. The error wraps ErrNoFolder when it has none.
	location(ctx context.Context, dir string) (string, error)
	// file returns the name of a skill's file in problems.
	file(dir, name string) string
	// base returns the name of a skill's folder.
	base(dir string) string
}

func (p *part) file(dir, name string) string {
	if h, ok := p.source.(home); ok {
		return h.file(dir, name)
	}
	if p.layer.Server != "" {
		return "mcp:" + p.layer.Server + "/" + path.Join(dir, name)
	}
	return p.layer.Name + ":" + path.Join(dir, name)
}

func (p *part) base(dir string) string {
	if h, ok := p.source.(home); ok {
		return h.base(dir)
	}
	return path.Base(dir)
}

// look reads a source. old is what an earlier catalogue has of it, or nil.
func look(ctx context.Context, p *part, old *part, profile *manifest.Profile) error {
	if s, ok := p.source.(*dirSource); ok {
		return s.look(ctx, p, old, profile)
	}
	rd := &reading{part: p, profile: profile}
	before := map[string]*record{}
	if old != nil {
		for _, r := range old.list {
			before[r.path()] = r.written()
		}
	}
	for f, err := range p.source.Skills(ctx) {
		if note, ok := leftOut(err); ok {
			if note.File == "." {
				note.File = p.layer.Name // it is about the whole source
			}
			p.notes = append(p.notes, note)
			continue
		}
		if f.Folder != "" {
			p.folders = append(p.folders, f.Folder)
		}
		p.list = append(p.list, rd.keep(&f, err, before[f.Path]))
	}
	rd.arena.close()
	return ctx.Err()
}

// leftOut returns the problem if err is one that is not about a skill.
func leftOut(err error) (manifest.Problem, bool) {
	var p *manifest.Problem
	if errors.As(err, &p) && !p.Fatal {
		return *p, true
	}
	return manifest.Problem{}, false
}

// keep returns the record for what a source yields. It reuses the old record if that is current.
func (rd *reading) keep(f *Found, err error, old *record) *record {
	if err != nil {
		r := rd.broken(f, err)
		r.more.open = rd.opener(f)
		if old != nil && old.more != nil && slices.Equal(old.more.problems, r.more.problems) {
			return old
		}
		return r
	}
	if f.Stamp == (Stamp{}) {
		f.Stamp = contentStamp(f.Head)
	}
	if f.File == "" {
		f.File = "SKILL.md"
	}
	if old != nil && old.stamp == f.Stamp && old.file() == f.File && old.digest() == f.Digest {
		return old
	}
	r := rd.record(f)
	if open := rd.opener(f); open != nil {
		if r.more == nil {
			r.more = &details{}
		}
		r.more.open, r.more.digest, r.more.place = open, f.Digest, f.Place
	}
	return r
}

// opener returns the function that opens a skill, if it has to be kept.
func (rd *reading) opener(f *Found) func(context.Context) (Tree, error) {
	if _, ok := rd.part.source.(home); ok {
		return nil
	}
	return f.Open
}

// look reads a folder. Manifests that did not change since old are not opened.
func (s *dirSource) look(ctx context.Context, p, old *part, profile *manifest.Profile) error {
	root, err := s.open()
	if err != nil {
		p.notes = []manifest.Problem{*s.unreadable(err)}
		return ctx.Err()
	}
	if root == nil {
		return ctx.Err()
	}
	v := newVisit(s, p, profile)
	if old != nil {
		v.old = old.list
	}
	notes, err := root.Walk(ctx, v)
	if ctx.Err() != nil || err != nil {
		root.Close()
		if ctx.Err() == nil {
			p.notes = []manifest.Problem{*s.unreadable(err)}
		}
		return ctx.Err()
	}
	for _, n := range notes {
		if n.Target != "" {
			p.links = append(p.links, link{len(p.notes), n.Target})
		}
		p.notes = append(p.notes, *s.note(n))
	}
	p.list = v.finish()
	if runtime.GOOS == "windows" { // an open folder cannot be removed there
		root.Close()
		return nil
	}
	p.root = root
	return nil
}

// visit turns the items of a walk into records, in the order of the folders.
type visit struct {
	s        *dirSource
	readings []reading // shared by the workers

	list  []*record // records of earlier levels
	level []*record

	old    []*record
	next   int // index in old where the next folder is expected
	byPath map[string]*record
	from   []*record // old records of the folders of the level
}

// readers is the number of goroutines that read. It is more than there are processors, since with a cold cache they
// wait for the disk.
const readers = 16

// newVisit makes as many readings as there are processors. The workers, most of them waiting for a disk, share them:
// the memory of each reading grows with what a hostile folder costs.
func newVisit(s *dirSource, p *part, profile *manifest.Profile) *visit {
	v := &visit{s: s, readings: make([]reading, runtime.GOMAXPROCS(0))}
	for i := range v.readings {
		v.readings[i].part, v.readings[i].profile = p, profile
	}
	return v
}

// lock returns a reading that no other worker uses. If there is none, it waits for one.
func (v *visit) lock(worker int) *reading {
	for i := range v.readings {
		if rd := &v.readings[(worker+i)%len(v.readings)]; rd.TryLock() {
			return rd
		}
	}
	rd := &v.readings[worker%len(v.readings)]
	rd.Lock()
	return rd
}

// Begin matches the folders with the old records. Both are in the same order, apart from changes.
func (v *visit) Begin(dirs []string) []walk.Stamp {
	v.close()
	v.level = make([]*record, len(dirs))
	if len(v.old) == 0 {
		return nil
	}
	v.from = make([]*record, len(dirs))
	known := make([]walk.Stamp, len(dirs))
	for i, dir := range dirs {
		if r := v.before(dir); r != nil {
			v.from[i], known[i] = r, walk.Stamp(r.stamp)
		}
	}
	return known
}

func (v *visit) before(dir string) *record {
	if v.next < len(v.old) && v.old[v.next].path() == dir {
		v.next++
		return v.old[v.next-1]
	}
	if v.byPath == nil {
		v.byPath = make(map[string]*record, len(v.old))
		for _, r := range v.old {
			v.byPath[r.path()] = r
		}
	}
	if r := v.byPath[dir]; r != nil {
		if i := slices.Index(v.old[v.next:min(v.next+8, len(v.old))], r); i >= 0 {
			v.next += i + 1
		}
		return r
	}
	return nil
}

// Visit makes the record of one folder.
func (v *visit) Visit(worker, i int, it *walk.Item) {
	if it.Same && v.from != nil && v.from[i] != nil && v.from[i].file() == it.File {
		v.level[i] = v.from[i]
		return
	}
	rd := v.lock(worker)
	defer rd.Unlock()
	f := Found{Path: it.Dir, File: it.File, Stamp: Stamp(it.Stamp), Head: it.Data}
	if it.Err != nil {
		v.level[i] = rd.broken(&f, fileProblem(v.s.file(it.Dir, it.File), it.Err))
	} else {
		v.level[i] = rd.record(&f)
	}
}

// close moves the records of a level to the list.
func (v *visit) close() {
	for _, r := range v.level {
		if r != nil {
			v.list = append(v.list, r)
		}
	}
	v.level, v.from = nil, nil
}

func (v *visit) finish() []*record {
	if v.list == nil && !slices.Contains(v.level, nil) {
		v.list, v.level = v.level, nil
	}
	v.close()
	for i := range v.readings {
		v.readings[i].arena.close()
	}
	return slices.Clip(v.list)
}
