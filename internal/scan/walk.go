package scan

import (
	"cmp"
	"context"
	"fmt"
	"path"
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
	Path string // slash path below the root
	Kind NoteKind
	Err  error
}

// NoteKind says why something was left out.
type NoteKind uint8

// The kinds of a Note.
const (
	Link       NoteKind = iota // a symbolic link that is not followed, or leads nowhere
	Bound                      // a bound of the walk was reached
	Unreadable                 // a folder cannot be listed
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
	buf, path    []byte
	dents, names []byte // for listing a folder
	item         Item
	id           int
}

type walk struct {
	r       *Root
	ctx     context.Context
	v       Visitor
	workers []worker
	notes   []Note
	links   []string        // links met on the way, by path
	seen    []string        // every folder that was probed under its own path
	real    map[string]bool // the real paths of all probed folders, while links are followed
	room    int             // how many more folders may be probed below the children
}

// Walk visits the manifests below the root and returns notes on what it left out, sorted by path. It returns an error if
// ctx is done or the root cannot be listed.
func (r *Root) Walk(ctx context.Context, v Visitor) ([]Note, error) {
	w := &walk{r: r, ctx: ctx, v: v, workers: make([]worker, r.o.Workers), room: r.o.MaxDirs}
	for i := range w.workers {
		w.workers[i].id = i
	}
	l, err := r.files.list(&w.workers[0], ".")
	if err != nil {
		return nil, err
	}
	if l.manifest {
		w.probe(level{dirs: []string{"."}})
		runtime.KeepAlive(r)
		return w.notes, ctx.Err()
	}
	w.links = l.links
	w.descend(level{dirs: l.dirs}, 1)
	if len(w.links) > 0 {
		w.follow()
	}
	runtime.KeepAlive(r)
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

// probe looks for a manifest in every folder of the level and returns the indices of the folders without one.
func (w *walk) probe(l level) (plain []int) {
	if len(l.dirs) == 0 {
		return nil
	}
	known := w.v.Begin(l.dirs)
	skill := make([]bool, len(l.dirs))
	w.parallel(len(l.dirs), func(wk *worker, i int) {
		var s Stamp
		if known != nil {
			s = known[i]
		}
		wk.item = Item{Dir: l.dirs[i]}
		if w.look(wk, &wk.item, l.place(w.r, i), s) {
			skill[i] = true
			w.v.Visit(wk.id, i, &wk.item)
		}
	})
	for i, ok := range skill {
		if !ok {
			plain = append(plain, i)
		}
	}
	return plain
}

func (l *level) place(r *Root, i int) place {
	if l.at != nil {
		return l.at[i]
	}
	return place{files: r.files, rel: l.dirs[i]}
}

// look reads the manifest of one folder and reports whether there is one.
func (w *walk) look(wk *worker, it *Item, at place, known Stamp) bool {
	for _, it.File = range [...]string{Manifest, LowerManifest} {
		if known != (Stamp{}) {
			if s, err := at.files.stamp(wk, at.rel, it.File); err == nil && s == known {
				it.Stamp, it.Same = s, true
				return true
			}
		}
		it.Data, it.Stamp, it.Err = at.files.read(wk, at.rel, it.File, &w.r.o)
		if it.Err == errLink {
			w.r.readLink(wk, it, &w.r.o)
		}
		if it.Err == nil {
			it.Same = it.Stamp == known
			return true
		}
		if !absent(it.Err) {
			if it.Stamp == (Stamp{}) {
				it.Stamp, _ = at.files.stamp(wk, at.rel, it.File)
			}
			it.Data = nil
			return true
		}
	}
	return false
}

// below lists the folders without a manifest and returns the next level, sorted by path.
func (w *walk) below(l level, plain []int, depth int) level {
	lists := make([]listing, len(plain))
	errs := make([]error, len(plain))
	w.parallel(len(plain), func(wk *worker, i int) {
		at := l.place(w.r, plain[i])
		lists[i], errs[i] = at.files.list(wk, at.rel)
	})
	var next level
	for i, sub := range lists {
		dir, at := l.dirs[plain[i]], l.place(w.r, plain[i])
		if errs[i] != nil && !absent(errs[i]) {
			w.notes = append(w.notes, Note{dir, Unreadable, errs[i]})
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

// bounded cuts a level at the bounds of the walk and adds a note if it did.
func (w *walk) bounded(l level, depth int) level {
	if len(l.dirs) == 0 {
		return l
	}
	if l.at == nil {
		slices.Sort(l.dirs)
	}
	if depth >= MaxDepth {
		w.notes = append(w.notes, Note{slices.Min(l.dirs), Bound,
			fmt.Errorf("folders more than %d levels deep are not searched", MaxDepth)})
		return level{}
	}
	if len(l.dirs) > w.room {
		w.notes = append(w.notes, Note{l.dirs[w.room], Bound,
			fmt.Errorf("more than %d folders below the first level: this one and those after it are not searched", w.r.o.MaxDirs)})
		l.dirs = l.dirs[:w.room]
	}
	w.room -= len(l.dirs)
	return l
}

// parallel calls f for every number below n, from several goroutines.
func (w *walk) parallel(n int, f func(wk *worker, i int)) {
	const batch = 16
	var next atomic.Int64
	run := func(wk *worker) {
		for w.ctx.Err() == nil {
			end := int(next.Add(batch))
			for i := end - batch; i < min(end, n); i++ {
				f(wk, i)
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
