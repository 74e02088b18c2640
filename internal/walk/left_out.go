package walk

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// shown is how many paths a note about a bound has.
const shown = 3

// cut is the folders or links that a bound of the walk left out.
type cut struct {
	first []string // the first of them by path
	n     int
}

func (c *cut) add(paths []string) {
	c.n += len(paths)
	c.first = append(c.first, paths...)
	slices.Sort(c.first)
	c.first = c.first[:min(len(c.first), shown)]
}

// bounds adds a note for each bound that left out folders.
func (w *walk) bounds() {
	w.bound(&w.deep, "not searched, because more than %d levels deep", MaxDepth)
	w.bound(&w.many, "not searched, because there are more than %d folders below the first level", w.r.o.MaxDirs)
}

// bound adds a note about what a bound left out. It lists the first paths and counts the rest.
func (w *walk) bound(c *cut, format string, limit int) {
	if c.n == 0 {
		return
	}
	why := fmt.Sprintf(format, limit)
	if c.n > 1 {
		why += ": " + strings.Join(c.first, ", ")
	}
	if more := c.n - len(c.first); more > 0 {
		why += fmt.Sprintf(" and %d more", more)
	}
	w.notes = append(w.notes, Note{Path: c.first[0], Kind: Bound, Err: errors.New(why)})
}

// inside adds a note for each manifest below a skill. It opens none of them.
func (w *walk) inside() {
	room, owner := w.r.o.MaxDirs, map[string]bool{}
	for _, dir := range w.skills.dirs {
		owner[dir] = true
	}
	for l, depth := w.skills, 0; len(l.dirs) > 0 && depth <= MaxDepth && w.ctx.Err() == nil; depth++ {
		lists := make([]listing, len(l.dirs))
		w.parallel(len(l.dirs), func(wk *worker, i int) { // what cannot be listed has no manifests to name
			hidden := w.r.hidden(l.dirs[i])
			if depth == 0 {
				hidden = []string{every}
			}
			lists[i], _ = l.at[i].files.list(wk, l.at[i].rel, hidden)
		})
		var next level
		for i, sub := range lists {
			if depth == 0 {
				searched := w.r.hidden(l.dirs[i])
				w.hidden[l.dirs[i]] = w.unknown(l.dirs[i], sub.dirs)
				sub.dirs = slices.DeleteFunc(sub.dirs, func(name string) bool { return ignored(name, searched) })
			}
			if sub.manifest && depth > 0 {
				dir := path.Dir(l.dirs[i])
				for !owner[dir] {
					dir = path.Dir(dir)
				}
				w.notes = append(w.notes, Note{Path: l.dirs[i], Kind: Inside, Err: fmt.Errorf("its SKILL.md is a file of the skill in %q", dir)})
			}
			if root := l.dirs[i] == "."; depth == 0 && (root || w.r.o.Nested) && Collection(l.dirs[i], root) { // the rest was searched
				sub.dirs = slices.DeleteFunc(sub.dirs, func(name string) bool { return !Part(name) })
			}
			for _, name := range sub.dirs[:min(len(sub.dirs), room)] {
				next.add(join(l.dirs[i], name), place{files: l.at[i].files, rel: join(l.at[i].rel, name)})
				room--
			}
		}
		l = next
	}
}

// mostHidden is how many levels of a hidden folder that is not searched are looked at.
const mostHidden = 5

// unsearched adds a note for each manifest in a hidden folder that is not searched. It opens none of them.
func (w *walk) unsearched() {
	if !w.r.o.Inside || !w.r.o.Nested {
		return
	}
	type folder struct{ dir, hidden string }
	room := w.r.o.MaxDirs
	var next []folder
	add := func(dir string, names []string) {
		for _, name := range names {
			next = append(next, folder{join(dir, name), join(dir, name)})
		}
	}
	dirs := append([]string{"."}, w.seen...)
	dirs = slices.DeleteFunc(dirs, func(dir string) bool {
		names, listed := w.hidden[dir]
		add(dir, names)
		return listed
	})
	for i, sub := range w.lists(dirs, []string{every}) {
		add(dirs[i], w.unknown(dirs[i], sub.dirs))
	}
	for range mostHidden {
		next = next[:min(len(next), room)]
		room -= len(next)
		dirs = dirs[:0]
		for _, f := range next {
			dirs = append(dirs, f.dir)
		}
		level := next
		next = nil
		for i, sub := range w.lists(dirs, nil) {
			f := level[i]
			if sub.manifest {
				w.notes = append(w.notes, Note{Path: f.dir, Kind: Hidden, Err: fmt.Errorf("its SKILL.md lies in the hidden folder %q, which is not searched", f.hidden)})
				continue
			}
			for _, name := range sub.dirs {
				next = append(next, folder{join(f.dir, name), f.hidden})
			}
		}
	}
}

// unknown returns the names of hidden folders in a folder that are not searched, but for those of version control.
func (w *walk) unknown(dir string, names []string) (hidden []string) {
	searched := w.r.hidden(dir)
	for _, name := range names {
		known := slices.Contains(searched, name) || filename.IsRepository(name) || dir == "." && name == w.r.o.Listed
		if name[0] == '.' && !known {
			hidden = append(hidden, name)
		}
	}
	return hidden
}

// lists lists folders below the root. What cannot be listed has no manifests to name.
func (w *walk) lists(dirs, hidden []string) []listing {
	out := make([]listing, len(dirs))
	w.parallel(len(dirs), func(wk *worker, i int) { out[i], _ = w.r.files.list(wk, dirs[i], hidden) })
	return out
}

// misnamed adds a note if the manifest in a folder has a name that is not read.
func (w *walk) misnamed(dir string, l *listing) {
	if l.misnamed != "" && !l.manifest {
		w.notes = append(w.notes, Note{Path: join(dir, l.misnamed), Kind: Misnamed,
			Err: fmt.Errorf("%q is not read: a manifest is called %s", l.misnamed, Manifest)})
	}
}

// Unsearched returns the first folder on a slash path that a nested walk does not search, and the path itself if there is none.
func Unsearched(dir string) string {
	for i := range len(dir) + 1 {
		if i < len(dir) && dir[i] != '/' {
			continue
		}
		if at := dir[:i]; !Searched(path.Base(path.Dir(at)), path.Base(at)) {
			return at
		}
	}
	return dir
}
