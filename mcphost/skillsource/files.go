package skillsource

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/skilluri"
)

// item is a file or a folder of a skill, as its entry has it.
type item struct {
	name string
	size int64
	dir  bool
}

func (i item) Name() string               { return i.name }
func (i item) Size() int64                { return i.size }
func (i item) IsDir() bool                { return i.dir }
func (i item) ModTime() time.Time         { return time.Time{} }
func (i item) Sys() any                   { return nil }
func (i item) Type() fs.FileMode          { return i.Mode().Type() }
func (i item) Info() (fs.FileInfo, error) { return i, nil }

func (i item) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// folders returns the folders of a skill with what is in them, sorted by name.
func folders(e *skilluri.Entry) map[string][]fs.DirEntry {
	out := map[string][]fs.DirEntry{}
	put := func(file string, i item) { out[path.Dir(file)] = append(out[path.Dir(file)], i) }
	if e.Dynamic() {
		put(skilluri.Manifest, item{name: skilluri.Manifest})
	}
	known := map[string]bool{".": true}
	for _, r := range e.Resources {
		put(r.File(), item{name: path.Base(r.File()), size: r.Size})
		for dir := path.Dir(r.File()); !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			put(dir, item{name: path.Base(dir), dir: true})
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return out
}

// Open opens a file, which it reads, or a folder.
func (t *tree) Open(name string) (fs.File, error) {
	i, err := t.stat("open", name)
	if err != nil {
		return nil, err
	}
	if i.dir {
		return &folder{item: i, list: t.list(name)}, nil
	}
	var data []byte
	if e := t.held(); e.Dynamic() {
		data, err = t.ReadManifest(name)
	} else {
		data, err = t.content(e, name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	i.size = int64(len(data))
	return &file{i, bytes.NewReader(data)}, nil
}

// ReadDir lists a folder. It reads nothing.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	i, err := t.stat("readdir", name)
	if err == nil && !i.dir {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(t.list(name)), nil
}

// Stat describes a file as the entry has it. It reads nothing.
func (t *tree) Stat(name string) (fs.FileInfo, error) { return t.stat("stat", name) }

func (t *tree) stat(op, name string) (item, error) {
	if !fs.ValidPath(name) {
		return item{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." || t.list(name) != nil {
		return item{name: path.Base(name), dir: true}, nil
	}
	for _, d := range t.list(path.Dir(name)) {
		if d.Name() == path.Base(name) {
			return d.(item), nil
		}
	}
	return item{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (t *tree) list(dir string) []fs.DirEntry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.files[dir]
}

// file is a file that was read.
type file struct {
	item
	*bytes.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.item, nil }
func (f *file) Close() error               { return nil }
func (f *file) Size() int64                { return f.item.size }

// folder is an open folder.
type folder struct {
	item
	list []fs.DirEntry
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.item, nil }
func (f *folder) Close() error               { return nil }
func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or all.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(f.list) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.list) {
		n = len(f.list)
	}
	out := f.list[:n:n]
	f.list = f.list[n:]
	return out, nil
}
