package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of what is remembered of one folder.
const (
	mostSavedFiles = 4096
	mostSavedBytes = 64 << 20
)

// errTooMuch is why a folder is not remembered.
var errTooMuch = fmt.Errorf("more than %d files or %d MiB", mostSavedFiles, mostSavedBytes>>20)

// saved is what lies at a path: a file, a link or a folder with all that is in it. A nil *saved is nothing.
type saved struct {
	mode    fs.FileMode
	time    time.Time // of the last change of content
	changed unix.Timespec
	inode   uint64
	links   uint64 // names of the file
	content []byte
	target  string // of a link
	below   map[string]*saved
}

// savings remembers paths of one folder.
type savings struct {
	root         *os.Root
	files, bytes int // so far
}

// take remembers what lies at a path.
func (s *savings) take(name string) (*saved, error) {
	info, err := s.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if s.files++; s.files > mostSavedFiles {
		return nil, errTooMuch
	}
	out := describeFile(info)
	switch {
	case info.IsDir():
		out.below, err = s.folder(name)
	case info.Mode().IsRegular():
		out.content, err = readAt(s.root, name, mostSavedBytes-s.bytes)
		s.bytes += len(out.content)
	case info.Mode()&fs.ModeSymlink != 0:
		out.target, err = s.root.Readlink(name)
	}
	return out, err
}

func (s *savings) folder(name string) (map[string]*saved, error) {
	names, err := namesIn(s.root, name)
	if err != nil {
		return nil, err
	}
	out := map[string]*saved{}
	for _, in := range names {
		if out[in], err = s.take(path.Join(name, in)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describeFile returns what a path says about itself.
func describeFile(info fs.FileInfo) *saved {
	out := &saved{mode: info.Mode(), time: info.ModTime()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		out.inode, out.links, out.changed = st.Ino, uint64(st.Nlink), unix.Timespec{Sec: st.Ctim.Sec, Nsec: st.Ctim.Nsec}
	}
	return out
}

// untouched reports whether nothing was done to a file since it was remembered: no program can set the time of its last change.
func (s *saved) untouched(now *saved) bool {
	return s.inode == now.inode && s.changed == now.changed && s.mode == now.mode
}

// permissions returns the mode without the kind.
func (s *saved) permissions() fs.FileMode { return s.mode &^ fs.ModeType }

// shared reports whether a file has another name now, by which it could be changed later.
func (s *saved) shared(now *saved) bool {
	return now.links > 1 && (now.links > s.links || now.inode != s.inode)
}

// readAt reads a file of at most so many bytes.
func readAt(root *os.Root, name string, most int) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = errTooMuch
	}
	return b, err
}

// namesIn returns the names in a folder, sorted.
func namesIn(root *os.Root, name string) ([]string, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostListed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// mostListed is how many names are read of one folder.
const mostListed = 100_000

// restorer puts paths of one folder back. What is in their place is moved to a folder made for it: a person may have changed the
// path at the same time.
type restorer struct{ aside }

// back makes what lies at a path what it was. It reports whether that was needed.
func (r *restorer) back(name string, was *saved) (bool, error) {
	there, moved, err := r.way(path.Dir(name))
	switch {
	case err != nil || !there && was == nil:
		return moved, err
	case !there:
		if err := r.root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return true, err
		}
	}
	changed, err := r.compare(name, was)
	return changed || moved, err
}

// way moves aside what has taken the place of a folder on the way to a path. It reports whether all these folders are there, and
// whether something was moved.
func (r *restorer) way(dir string) (there, moved bool, err error) {
	if dir == "." {
		return true, false, nil
	}
	if there, moved, err := r.way(path.Dir(dir)); !there || err != nil {
		return there, moved, err
	}
	info, err := r.root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, err
	case info.IsDir():
		return true, false, nil
	}
	return false, true, r.move(dir)
}

// compare puts back what differs. No part of the way to the path is a link.
func (r *restorer) compare(name string, was *saved) (bool, error) {
	info, err := r.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && was == nil:
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return true, r.make(name, was)
	case err != nil:
		return true, err
	case was != nil && was.mode.Type() == info.Mode().Type():
		return r.same(name, was, describeFile(info))
	}
	if err := r.move(name); err != nil || was == nil {
		return true, err
	}
	return true, r.make(name, was)
}

// same compares two of the same kind.
func (r *restorer) same(name string, was, now *saved) (bool, error) {
	switch {
	case was.mode.IsDir():
		return r.folder(name, was, now)
	case was.untouched(now):
		return false, nil
	case was.mode.IsRegular():
		b, err := readAt(r.root, name, len(was.content))
		if err == nil && bytes.Equal(b, was.content) && was.mode == now.mode && !was.shared(now) {
			return false, nil
		}
	case was.mode&fs.ModeSymlink != 0:
		if target, err := r.root.Readlink(name); err == nil && target == was.target {
			return false, nil
		}
	}
	if err := r.move(name); err != nil {
		return true, err
	}
	return true, r.make(name, was)
}

func (r *restorer) folder(name string, was, now *saved) (changed bool, err error) {
	if was.mode != now.mode {
		changed, err = true, r.root.Chmod(name, was.permissions())
	}
	if err != nil {
		return true, err
	}
	names, err := namesIn(r.root, name)
	if err != nil {
		return true, err
	}
	for in := range was.below {
		names = append(names, in)
	}
	slices.Sort(names)
	for _, in := range slices.Compact(names) {
		differs, err := r.compare(path.Join(name, in), was.below[in])
		if changed = changed || differs; err != nil {
			return true, err
		}
	}
	return changed, nil
}

// make makes what was remembered, where there is nothing.
func (r *restorer) make(name string, was *saved) error {
	switch {
	case was.mode.IsDir():
		if err := r.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		for _, in := range slices.Sorted(maps.Keys(was.below)) {
			if err := r.make(path.Join(name, in), was.below[in]); err != nil {
				return err
			}
		}
		return r.root.Chmod(name, was.permissions())
	case was.mode&fs.ModeSymlink != 0:
		return r.root.Symlink(was.target, name)
	case was.mode.IsRegular():
		return r.file(name, was)
	}
	return fmt.Errorf("a %s cannot be made again", was.mode.Type())
}

func (r *restorer) file(name string, was *saved) error {
	f, err := r.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(was.content)
	err = errors.Join(err, f.Chmod(was.permissions()), f.Close())
	if err == nil {
		err = r.root.Chtimes(name, was.time, was.time)
	}
	return err
}
