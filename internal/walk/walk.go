package walk

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Item is a manifest that was found.
type Item struct {
	Dir   string // slash path of the skill's folder below the root, "." for the root itself
	File  string // Manifest or LowerManifest
	Stamp Stamp  // zero if it is not known
	Same  bool   // Stamp is the known one, and nothing was read
	Data  []byte // valid until Visit returns
	Err   error  // why the manifest cannot be read
}

// Visitor receives the manifests that Walk finds, level by level.
type Visitor interface {
	// Begin is called with the folders of a level before they are probed. It returns the known stamps of their
	// manifests in the same order, or nil if none is known. A zero Stamp means that the manifest is not known.
	Begin(dirs []string) []Stamp
	// Visit is called for each folder of the level that has a manifest. It is called from several goroutines, each with
	// its own worker number below Options.Workers. i is the index of the folder within the level.
	Visit(worker, i int, it *Item)
}

// Note describes something that a walk left out.
type Note struct {
	Path   string // slash path below the root
	Kind   NoteKind
	Err    error
	Target string // of a Link that leads out of the root: the absolute path that it leads to
}

// NoteKind says why something was left out.
type NoteKind uint8

// The kinds of a Note.
const (
	Link       NoteKind = iota // a symbolic link that is not followed, or leads nowhere
	Bound                      // a bound of the walk was reached
	Unreadable                 // a folder cannot be listed
	Misnamed                   // a manifest's name is in another case, as in Skill.md
	Inside                     // a manifest below a skill, which is a file of that skill
	Hidden                     // a manifest in a hidden folder that is not searched
	Empty                      // a folder on the first level with nothing in it
)

// level is the folders of one depth. at has their real places; nil means that they are where their paths say.
type level struct {
	dirs []string
	at   []place
}

// place is a folder below a root that may be read.
type place struct {
	files backend
	rel   string
	real  string // absolute
}

// worker is the scratch memory of one goroutine.
type worker struct {
	path         []byte
	dents, names []byte // for listing a folder
	id           int

	// A worker reads the manifests of a batch, then visits them: the processor does better at one thing at a time.
	items [batch]Item
	bufs  [batch][]byte
	buf   *[]byte // the one to read into
}

type walk struct {
	r       *Root
	ctx     context.Context
	v       Visitor
	workers []worker
	notes   []Note
	links   []string            // links met on the way, by path
	behind  level               // folders whose manifest is a link
	skills  level               // folders of skills, with Options.Inside
	hidden  map[string][]string // the folders in those of skills that are hidden and not searched
	late    bool                // manifests that are links are read
	seen    []string            // every folder that was probed under its own path
	real    map[string]bool     // the real paths of all probed folders, while links are followed
	room    int                 // how many more folders may be probed below the children
	deep    cut                 // folders below MaxDepth
	many    cut                 // folders for which there was no room
}

// Walk visits the manifests below the root and returns notes on what it left out, sorted by path. It returns an error if
// ctx is done or the root cannot be listed.
func (r *Root) Walk(ctx context.Context, v Visitor) ([]Note, error) {
	w := &walk{r: r, ctx: ctx, v: v, workers: make([]worker, r.o.Workers), room: r.o.MaxDirs, hidden: map[string][]string{}}
	for i := range w.workers {
		w.workers[i].id = i
	}
	l, err := r.files.list(&w.workers[0], ".", r.hidden("."))
	if err != nil {
		return nil, err
	}
	if l.manifest {
		w.probe(level{dirs: []string{"."}})
	}
	if l.manifest {
		l.others()
	}
	w.misnamed(".", &l)
	if !l.manifest || Collection(filepath.ToSlash(r.path), false) { // elsewhere links are the skill's own
		w.links = l.links
	}
	w.descend(level{dirs: l.dirs}, 1)
	if len(w.links)+len(w.behind.dirs) > 0 {
		w.follow()
	}
	w.inside()
	w.unsearched()
	runtime.KeepAlive(r)
	w.bounds()
	slices.SortStableFunc(w.notes, func(a, b Note) int { return cmp.Compare(a.Path, b.Path) })
	return w.notes, ctx.Err()
}

// descend probes a level and those below it.
func (w *walk) descend(l level, depth int) {
	for len(l.dirs) > 0 && w.ctx.Err() == nil {
		plain := w.probe(l)
		if l.at == nil {
			w.seen = append(w.seen, l.dirs...)
		}
		if !w.r.o.Nested {
			return
		}
		l = w.below(l, plain, depth)
		depth++
	}
}

// probe looks for a manifest in every folder of the level and returns the indices of the folders to search.
func (w *walk) probe(l level) (plain []int) {
	if len(l.dirs) == 0 {
		return nil
	}
	known := w.v.Begin(l.dirs)
	kinds := make([]folderKind, len(l.dirs))
	w.batches(len(l.dirs), func(wk *worker, from, end int) {
		for i := from; i < end; i++ {
			var s Stamp
			if known != nil {
				s = known[i]
			}
			it := &wk.items[i-from]
			*it = Item{Dir: l.dirs[i]}
			wk.buf = &wk.bufs[i-from]
			kinds[i] = w.look(wk, it, l.place(w.r, i), s)
		}
		for i := from; i < end; i++ {
			if kinds[i] == skill {
				w.v.Visit(wk.id, i, &wk.items[i-from])
			}
			if buf := &wk.bufs[i-from]; cap(*buf) > roomy {
				*buf = nil
			}
		}
	})
	for i, kind := range kinds {
		switch {
		case kind == group:
			plain = append(plain, i)
		case kind == linked:
			w.behind.add(l.dirs[i], l.place(w.r, i))
		case l.dirs[i] != "." && Collection(l.dirs[i], false):
			plain = append(plain, i)
		}
		if kind == skill && w.r.o.Inside {
			w.skills.add(l.dirs[i], l.place(w.r, i))
		}
	}
	return plain
}

// folderKind says what a folder is by its manifest.
type folderKind uint8

const (
	group  folderKind = iota // it has no manifest
	skill                    // it has one
	linked                   // its manifest is a link, and is judged after the walk
)

func (l *level) add(dir string, at place) { l.dirs, l.at = append(l.dirs, dir), append(l.at, at) }

func (l *level) place(r *Root, i int) place {
	if l.at != nil {
		return l.at[i]
	}
	return place{files: r.files, rel: l.dirs[i]}
}

// look reads the manifest of one folder, unless it is known already or nobody wants to read it.
func (w *walk) look(wk *worker, it *Item, at place, known Stamp) folderKind {
	for _, it.File = range [...]string{Manifest, LowerManifest} {
		if known != (Stamp{}) || w.r.o.Bare {
			s, mode, err := at.files.stat(wk, at.rel, it.File)
			if err == nil && (s == known || w.r.o.Bare && mode.IsRegular()) {
				it.Stamp, it.Same = s, s == known
				return skill
			}
		}
		it.Data, it.Stamp, it.Err = at.files.read(wk, at.rel, it.File, &w.r.o)
		if it.Err == errLink {
			if !w.late {
				return linked
			}
			w.r.readLink(wk, it, &w.r.o)
		}
		if it.Err == nil {
			it.Same = it.Stamp == known
			return skill
		}
		if !absent(it.Err) {
			if it.Stamp == (Stamp{}) {
				it.Stamp, _, _ = at.files.stat(wk, at.rel, it.File)
			}
			it.Data = nil
			return skill
		}
	}
	return group
}

// below lists the folders that are searched and returns the next level, sorted by path.
func (w *walk) below(l level, plain []int, depth int) level {
	lists := make([]listing, len(plain))
	errs := make([]error, len(plain))
	w.parallel(len(plain), func(wk *worker, i int) {
		at := l.place(w.r, plain[i])
		lists[i], errs[i] = at.files.list(wk, at.rel, w.r.hidden(l.dirs[plain[i]]))
	})
	var next level
	for i, sub := range lists {
		dir, at := l.dirs[plain[i]], l.place(w.r, plain[i])
		if errs[i] != nil && !absent(errs[i]) {
			w.notes = append(w.notes, Note{Path: dir, Kind: Unreadable, Err: errs[i]})
		}
		w.misnamed(dir, &sub)
		if sub.empty && depth == 1 && l.at == nil {
			w.notes = append(w.notes, Note{Path: dir, Kind: Empty, Err: errors.New("the folder is empty")})
		}
		if sub.manifest {
			sub.others()
		}
		for _, name := range sub.dirs {
			if l.at != nil {
				real := at.real + "/" + name
				if w.real[real] {
					continue
				}
				w.real[real] = true
				next.at = append(next.at, place{at.files, join(at.rel, name), real})
			}
			next.dirs = append(next.dirs, join(dir, name))
		}
		if l.at == nil && depth < MaxDepth {
			for _, name := range sub.links {
				w.links = append(w.links, join(dir, name))
			}
		}
	}
	return w.bounded(next, depth)
}

// bounded cuts a level at the bounds of the walk.
func (w *walk) bounded(l level, depth int) level {
	if len(l.dirs) == 0 {
		return l
	}
	if l.at == nil {
		slices.Sort(l.dirs)
	}
	if depth >= MaxDepth {
		w.deep.add(l.dirs)
		return level{}
	}
	if len(l.dirs) > w.room {
		w.many.add(l.dirs[w.room:])
		l.dirs = l.dirs[:w.room]
	}
	w.room -= len(l.dirs)
	return l
}

const (
	batch = 16        // folders that a worker takes at a time
	roomy = 8 * block // a larger buffer is not kept for the next batch
)

// parallel calls f for every number below n, from several goroutines.
func (w *walk) parallel(n int, f func(wk *worker, i int)) {
	w.batches(n, func(wk *worker, from, end int) {
		for i := from; i < end; i++ {
			f(wk, i)
		}
	})
}

// batches is parallel for a function that takes the numbers from one up to, not including, another.
func (w *walk) batches(n int, f func(wk *worker, from, end int)) {
	var next atomic.Int64
	run := func(wk *worker) {
		for w.ctx.Err() == nil {
			end := int(next.Add(batch))
			if end-batch < n {
				f(wk, end-batch, min(end, n))
			}
			if end >= n {
				return
			}
		}
	}
	var group sync.WaitGroup
	for k := 1; k < len(w.workers) && k*batch < n; k++ {
		group.Go(func() { run(&w.workers[k]) })
	}
	run(&w.workers[0])
	group.Wait()
}

// depthOf returns the number of components of a path.
func depthOf(p string) int {
	n := 0
	for ; p != "."; p = path.Dir(p) {
		n++
	}
	return n
}
