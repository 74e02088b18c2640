package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/agent-base/agent-base/internal/walk"
)

// folders is the set of watched folders: every folder below the roots that may have a manifest, and the nearest existing
// folder above each root, where the root itself may appear.
type folders struct {
	max  int
	open func() (*fsnotify.Watcher, error)

	notify *fsnotify.Watcher
	dirs   map[string]bool // watched for all events
	roots  map[string]bool
	guards map[string][]string // watched for entries with these names
}

func (f *folders) close() {
	if f.notify != nil {
		_ = f.notify.Close() // nothing can be done about an error
		f.notify = nil
	}
}

// events returns the channel of events, or nil if nothing is watched.
func (f *folders) events() <-chan fsnotify.Event {
	if f.notify == nil {
		return nil
	}
	return f.notify.Events
}

func (f *folders) errors() <-chan error {
	if f.notify == nil {
		return nil
	}
	return f.notify.Errors
}

// errFull means that there are more folders than may be watched.
var errFull = errors.New("too many folders")

// watch starts over and watches the folders that exist now: those watched before may have been moved or replaced. If not
// all can be watched it watches none and returns the reason.
func (f *folders) watch(roots []string) (why string) {
	f.close()
	notify, err := f.open()
	if err != nil {
		return fmt.Sprintf("the system cannot watch files (%v)", err)
	}
	f.notify, f.dirs, f.roots, f.guards = notify, map[string]bool{}, map[string]bool{}, map[string][]string{}
	for _, root := range roots {
		f.roots[root] = true
		if err = f.guard(root); err == nil {
			err = f.tree(root, 0)
		}
		if err != nil {
			f.close()
			return f.reason(err)
		}
	}
	return ""
}

func (f *folders) reason(err error) string {
	if errors.Is(err, errFull) {
		return fmt.Sprintf("more than %d folders of skills to watch", f.max)
	}
	return fmt.Sprintf("the system cannot watch more folders (%v); on Linux raise fs.inotify.max_user_watches", err)
}

// guard watches the nearest existing folder above path for the next name on the way to path.
func (f *folders) guard(path string) error {
	for {
		dir, name := filepath.Dir(path), filepath.Base(path)
		if dir == path {
			return nil
		}
		for !isDir(dir) && filepath.Dir(dir) != dir {
			dir, name = filepath.Dir(dir), filepath.Base(dir)
		}
		watched, err := f.add(dir)
		if err != nil {
			return err
		}
		if watched {
			f.guards[dir] = append(f.guards[dir], name)
		}
		if next := filepath.Join(dir, name); !watched || next == path || !isDir(next) {
			return nil
		}
	}
}

// tree watches dir and the folders below it that a nested walk searches. It watches a folder before it lists it, so a later change is an event.
func (f *folders) tree(dir string, depth int) error {
	if f.dirs[dir] {
		return nil
	}
	watched, err := f.add(dir)
	if err != nil || !watched {
		return err
	}
	f.dirs[dir] = true
	isSkill := hasManifest(dir)
	if depth == walk.MaxDepth || isSkill && !walk.Collection(filepath.ToSlash(dir), depth == 0) {
		return nil
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // a folder that cannot be listed has no skills
	}
	for _, d := range list {
		below := filepath.Join(dir, d.Name())
		isLink := d.Type()&fs.ModeSymlink != 0
		switch {
		case !walk.Searched(filepath.Base(dir), d.Name()) || !d.IsDir() && !isLink || isSkill && walk.Part(d.Name()):
			continue
		case isLink: // only the target itself is watched
			err = f.linked(below)
		default:
			err = f.tree(below, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *folders) linked(path string) error {
	if !isDir(path) || f.dirs[path] {
		return nil
	}
	watched, err := f.add(path)
	if watched {
		f.dirs[path] = true
	}
	return err
}

// add watches one folder and reports whether it did. It skips a folder that is gone or not accessible: when that changes,
// there is an event for its parent.
func (f *folders) add(dir string) (bool, error) {
	if len(f.dirs)+len(f.guards) >= f.max {
		return false, errFull
	}
	if !isDir(dir) {
		return false, nil
	}
	err := f.notify.Add(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return err == nil, err
}

// judge reports whether an event may change the catalog, and whether it may change the set of folders.
func (f *folders) judge(ev fsnotify.Event) (dirty, shape bool) {
	dir, name := filepath.Dir(ev.Name), filepath.Base(ev.Name)
	if f.dirs[ev.Name] || slices.Contains(f.guards[dir], name) {
		return true, true
	}
	if _, isGuard := f.guards[ev.Name]; isGuard {
		return true, true // the folder is gone, or its mode changed
	}
	if !f.dirs[dir] {
		return false, false
	}
	if isManifest(name) {
		return true, ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) || f.roots[dir] || walk.Collection(filepath.ToSlash(dir), false)
	}
	if ev.Has(fsnotify.Create) {
		info, err := os.Lstat(ev.Name)
		isNew := err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0)
		return isNew, isNew
	}
	return false, false
}

// manifests are the names of a manifest that are read, the first of them that is there.
var manifests = [...]string{walk.Manifest, walk.LowerManifest}

func isManifest(name string) bool { return strings.EqualFold(name, "SKILL.md") }

func hasManifest(dir string) bool {
	for _, name := range manifests {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
