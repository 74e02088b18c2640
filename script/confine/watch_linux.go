package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/script/runner"
)

// watcher compares paths of folders that commands may write with what was there before, and puts them back. Commands that run at the
// same time share what is remembered: what one of them did is never taken for what was there before.
type watcher struct {
	mu      sync.Mutex
	folders map[string]*watchedFolder
}

// watchedFolder is a folder in which paths are watched.
type watchedFolder struct {
	path  string
	root  *os.Root
	lock  *os.File // held against other engines, if something is remembered; may be nil
	runs  int
	known map[string]*knownPath
	files savings
}

// knownPath is a path with what was there before the first of the commands that run now.
type knownPath struct {
	runs int
	was  *saved
}

// watch is what is watched for one command.
type watch struct {
	by    *watcher
	paths []watchedPath
}

type watchedPath struct {
	in   *watchedFolder
	name string // below the folder
}

// lockTime is how long another engine is waited for.
const lockTime = 5 * time.Second

// errWatched is why a folder cannot be watched.
var errWatched = errors.New("a command of another agent writes there")

// begin remembers some paths below a folder. locked says that they exist, or may: then no other engine watches the folder until the
// end.
func (w *watcher) begin(to *watch, dir string, names []string, locked bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	to.by = w
	f, err := w.open(dir)
	if err != nil {
		return err
	}
	if locked {
		err = f.hold()
	}
	for _, name := range names {
		if err != nil {
			break
		}
		if err = f.remember(name); err == nil {
			f.runs++
			to.paths = append(to.paths, watchedPath{f, name})
		}
	}
	if err != nil {
		to.paths = slices.DeleteFunc(to.paths, func(p watchedPath) bool {
			if p.in == f {
				f.forget(p.name)
			}
			return p.in == f
		})
	}
	w.closeUnused(f)
	return err
}

func (w *watcher) open(dir string) (*watchedFolder, error) {
	if f := w.folders[dir]; f != nil {
		return f, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if w.folders == nil {
		w.folders = map[string]*watchedFolder{}
	}
	f := &watchedFolder{path: dir, root: root, known: map[string]*knownPath{}, files: savings{root: root}}
	w.folders[dir] = f
	return f, nil
}

// closeUnused forgets a folder in which nothing is watched.
func (w *watcher) closeUnused(f *watchedFolder) {
	if f.runs > 0 || w.folders[f.path] != f {
		return
	}
	delete(w.folders, f.path)
	f.root.Close()
	if f.lock != nil {
		f.lock.Close()
	}
}

// hold locks the folder against other engines.
func (f *watchedFolder) hold() error {
	if f.lock != nil {
		return nil
	}
	dir, err := f.root.Open(".")
	if err != nil {
		return err
	}
	for end := time.Now().Add(lockTime); unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			dir.Close()
			return errWatched
		}
	}
	f.lock = dir
	return nil
}

func (f *watchedFolder) remember(name string) error {
	if k := f.known[name]; k != nil {
		k.runs++
		return nil
	}
	was, err := f.files.take(name)
	if err == nil {
		f.known[name] = &knownPath{runs: 1, was: was}
	}
	return err
}

func (f *watchedFolder) forget(name string) {
	f.runs--
	if k := f.known[name]; k != nil {
		if k.runs--; k.runs == 0 {
			delete(f.known, name)
		}
	}
}

// end puts back what the command changed, and says what that was. The command is gone.
func (w *watch) end() []runner.Undone {
	if w.by == nil {
		return nil
	}
	w.by.mu.Lock()
	defer w.by.mu.Unlock()
	var out []runner.Undone
	restorers := map[*watchedFolder]*restorer{}
	slices.SortFunc(w.paths, func(a, b watchedPath) int { return strings.Compare(a.name, b.name) })
	for _, p := range w.paths {
		r := restorers[p.in]
		if r == nil {
			r = &restorer{aside{root: p.in.root}}
			restorers[p.in] = r
		}
		before := r.moved
		changed, err := r.back(p.name, p.in.known[p.name].was)
		if changed || err != nil {
			u := runner.Undone{Path: filepath.Join(p.in.path, filepath.FromSlash(p.name)), Err: err}
			if r.moved > before {
				u.Moved = filepath.Join(p.in.path, r.dir)
			}
			out = append(out, u)
		}
	}
	for _, p := range w.paths {
		p.in.forget(p.name)
		w.by.closeUnused(p.in)
	}
	w.paths = nil
	return out
}

// watchPaths has the paths watched that nothing else keeps: those of Command.Absent, the links among those of Command.Keep, and without a
// private view all of these. A folder that cannot be watched becomes read-only.
func (p *plan) watchPaths(w *watcher) watch {
	var out watch
	if p.c.Confine == runner.ConfineOff {
		return out
	}
	names := map[string][]string{}
	kept := map[string]bool{}
	for _, path := range append(p.links, p.c.Absent...) {
		p.watchPath(names, path, true)
	}
	if !p.layers.namespaces {
		for _, path := range p.c.Keep {
			if root := p.watchPath(names, path, false); root != "" {
				kept[root] = true
			}
		}
	}
	for _, root := range sortedKeys(names) {
		list := slices.Compact(slices.Sorted(slices.Values(names[root])))
		err := w.begin(&out, root, list, kept[root])
		switch {
		case err != nil:
			p.view.entries[root] = entry{path: root, kind: readable}
			p.missing = append(p.missing, fmt.Sprintf("write: %s is read-only, because what has to stay in it cannot be remembered: %v", root, err))
		case kept[root]:
			p.missing = append(p.missing, fmt.Sprintf("%s: without namespaces, what has to stay in %s is put back after the command, and can be changed until then", keep, root))
		}
	}
	return out
}

// watchPath adds a path to the names below the writable folder that has it: with whole the path, else the first part of it that is
// missing. It returns the folder, "" if the command cannot change the path.
func (p *plan) watchPath(names map[string][]string, path string, whole bool) string {
	path = filepath.Clean(path)
	over, ok := p.view.above(path)
	if !ok || over.kind != writable || p.view.hides(path) || p.hidden(path) {
		return ""
	}
	for up, ok := p.view.above(over.path); ok && up.kind == writable; up, ok = p.view.above(up.path) {
		over = up // a folder in a writable one can be moved
	}
	rest := strings.Split(strings.TrimPrefix(path, over.path+"/"), "/")
	for i := range rest {
		at := filepath.Join(over.path, filepath.Join(rest[:i+1]...))
		info, err := os.Lstat(at)
		if err == nil && info.IsDir() && i < len(rest)-1 {
			continue
		}
		if !whole && err == nil && info.Mode()&fs.ModeSymlink != 0 && i < len(rest)-1 {
			p.missing = append(p.missing, keep+": "+at+" is a symbolic link: what it leads to can be changed")
		}
		if whole && err != nil {
			i = len(rest) - 1
		}
		if !whole || i == len(rest)-1 {
			names[over.path] = append(names[over.path], strings.Join(rest[:i+1], "/"))
		}
		break
	}
	return over.path
}

// hidden reports whether a path lies in a folder that the command does not see.
func (p *plan) hidden(path string) bool {
	return slices.ContainsFunc(p.c.Hide, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}

func sortedKeys(m map[string][]string) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
