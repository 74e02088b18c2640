package walk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// follow probes the folders that links lead to, and reads the manifests that are links. It runs after everything else, so a folder that can be reached in two
// ways counts under its own path.
func (w *walk) follow() {
	w.real = map[string]bool{}
	if real, err := w.r.realPath(); err == nil {
		w.real[real] = true
		for _, dir := range w.seen {
			w.real[real+"/"+dir] = true
		}
	}
	slices.Sort(w.links)
	var rest cut
	if len(w.links) > MaxLinks {
		rest.add(w.links[MaxLinks:])
		w.links = w.links[:MaxLinks]
	}
	w.bound(&rest, "not followed, because there are more than %d symbolic links", MaxLinks)
	for _, link := range w.links {
		if w.ctx.Err() != nil {
			return
		}
		at, err := w.r.resolve(link)
		switch {
		case errors.Is(err, errNotDir):
		case err != nil:
			w.notes = append(w.notes, Note{Path: link, Kind: Link, Err: err, Target: at.real})
		case w.loops(link, at):
			w.notes = append(w.notes, Note{Path: link, Kind: Link, Err: errors.New("symbolic link leads back to a folder that holds it")})
		case !w.real[at.real]:
			w.real[at.real] = true
			w.descend(level{dirs: []string{link}, at: []place{at}}, depthOf(link))
		}
	}
	w.manifests()
}

// manifests reads the manifests that are links, unless the link leads to a manifest that was read at its own place.
func (w *walk) manifests() {
	if real, err := w.r.realPath(); err == nil {
		for i, dir := range w.behind.dirs {
			w.behind.at[i].real = cmp.Or(w.behind.at[i].real, real+"/"+dir)
			delete(w.real, w.behind.at[i].real)
		}
	}
	was := make([]bool, len(w.behind.dirs))
	w.parallel(len(was), func(_ *worker, i int) { was[i] = w.r.o.Links != Deny && w.wasRead(w.behind.dirs[i]) })
	var l level
	for i, dir := range w.behind.dirs {
		if !was[i] {
			l.add(dir, w.behind.at[i])
		}
	}
	w.late = true
	w.probe(l)
}

// wasRead reports whether the manifest of a folder is a link to a manifest that was read.
func (w *walk) wasRead(dir string) bool {
	for _, file := range [...]string{Manifest, LowerManifest} {
		if at, err := w.r.target(join(dir, file)); err == nil {
			return isManifest(filepath.Base(at.real)) && w.real[filepath.Dir(at.real)]
		}
	}
	return false
}

// loops reports whether the link's target holds the link.
func (w *walk) loops(link string, at place) bool {
	if at.files != w.r.files {
		return false
	}
	return at.rel == "." || strings.HasPrefix(link, at.rel+"/")
}

// realPath returns the root's path without symbolic links.
func (r *Root) realPath() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.real != "" {
		return r.real, nil
	}
	real, err := filepath.EvalSymlinks(r.path)
	if err == nil {
		r.real = real
	}
	return real, err
}

// resolve returns the folder that a link leads to, or an error if the link must not be followed.
func (r *Root) resolve(link string) (place, error) {
	if r.o.Links == Deny {
		if info, err := os.Stat(filepath.Join(r.path, filepath.FromSlash(link))); err == nil && !info.IsDir() {
			return place{}, errNotDir
		}
		return place{}, ErrDenied
	}
	at, err := r.target(link)
	if err != nil {
		return at, err
	}
	info, err := os.Stat(at.real)
	if err == nil && !info.IsDir() {
		return at, errNotDir
	}
	if at.files == nil {
		return at, leaves(at.real)
	}
	return at, err
}

func leaves(target string) error { return fmt.Errorf("%w, to %q", ErrLeaves, target) }

// target resolves a path below the root. The place has no files if it lies in no permitted root.
func (r *Root) target(p string) (place, error) {
	real, err := filepath.EvalSymlinks(filepath.Join(r.path, filepath.FromSlash(p)))
	if err != nil {
		return place{}, linkError(err)
	}
	root, err := r.realPath()
	if err != nil {
		return place{}, err
	}
	if rel, ok := under(root, real); ok {
		return place{r.files, rel, real}, nil
	}
	for _, dir := range r.o.Allow {
		base, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue
		}
		if rel, ok := under(base, real); ok {
			files, err := r.base(base)
			return place{files, rel, real}, err
		}
	}
	if r.o.Own == nil {
		return place{real: real}, nil
	}
	base := r.o.Own(real)
	rel, ok := under(base, real)
	if base == "" || !ok {
		return place{real: real}, nil
	}
	files, err := r.base(base)
	return place{files, rel, real}, err
}

// base returns the backend of an allowed root.
func (r *Root) base(dir string) (backend, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b, ok := r.bases[dir]; ok {
		return b, nil
	}
	b, err := openBackend(dir, r.o.Portable)
	if err == nil {
		r.bases[dir] = b
	}
	return b, err
}

func linkError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNowhere
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("symbolic link cannot be followed: %s", strings.TrimPrefix(err.Error(), "EvalSymlinks: "))
}

// readLink reads a manifest through a link in its path.
func (r *Root) readLink(wk *worker, it *Item, o *Options) {
	if r.o.Links == Deny {
		it.Err = ErrDenied
		return
	}
	at, err := r.target(join(it.Dir, it.File))
	switch {
	case err != nil:
		it.Err = err
	case at.files == nil:
		it.Err = leaves(at.real)
	default:
		dir, file := path.Split(at.rel)
		it.Data, it.Stamp, it.Err = at.files.read(wk, path.Clean(dir), file, o)
	}
}
