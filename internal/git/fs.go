package git

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// Interfaces of package fs that a Repository implements.
var (
	_ fs.ReadDirFS  = (*Repository)(nil)
	_ fs.ReadFileFS = (*Repository)(nil)
	_ fs.StatFS     = (*Repository)(nil)
)

// find returns the node of a path.
func (r *Repository) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.t.nodes[name]
	if n == nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return n, nil
}

// Open opens a file or a folder. A file may not have more bytes than the limit of one file.
func (r *Repository) Open(name string) (fs.File, error) {
	n, err := r.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.mode.IsDir() {
		return &folder{info: info{node: n}, r: r}, nil
	}
	from, at, err := r.place(n)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{info{n, at.size}, io.NewSectionReader(from, at.offset, at.size)}, nil
}

// ReadFile returns the content of a file, which may not have more bytes than the limit of one file.
func (r *Repository) ReadFile(name string) ([]byte, error) {
	n, err := r.find("read", name)
	if err == nil && n.mode.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	from, at, err := r.place(n)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	b := make([]byte, at.size)
	if _, err := from.ReadAt(b, at.offset); err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

// ReadDir returns the entries of a folder, sorted by name. Their Info is that of Stat.
func (r *Repository) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := r.find("readdir", name)
	if err == nil && !n.mode.IsDir() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: errNotFolder}
	}
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]fs.DirEntry, len(n.children))
	for i, child := range n.children {
		out[i] = entry{child, r}
	}
	return out, nil
}

// Stat describes a file or a folder. The size of a file is known when its content is here, so Stat may fetch it as Open does.
// Times are zero.
func (r *Repository) Stat(name string) (fs.FileInfo, error) {
	n, err := r.find("stat", name)
	if err != nil {
		return nil, err
	}
	if n.mode.IsDir() {
		return info{node: n}, nil
	}
	at, err := r.locate(n)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return info{n, at.size}, nil
}

// locate returns where the content of a file lies. If it is not here, it is fetched with the others of its folder and below.
func (r *Repository) locate(n *node) (place, error) {
	if n.from != nil {
		return n.from.locate(n.own)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return place{}, fs.ErrClosed
	}
	if at, here := r.contents.places[n.id]; here {
		return at, nil
	}
	dir := path.Dir(n.path)
	err := r.need(r.ctx, func(p string) bool { return below(dir, p) })
	return r.contents.places[n.id], err
}

// place is locate for a file whose content is read. It also returns the file that has it.
func (r *Repository) place(n *node) (*os.File, place, error) {
	if n.from != nil {
		return n.from.place(n.own)
	}
	at, err := r.locate(n)
	if most := r.c.o.Limits.FileSize; err == nil && at.size > most {
		err = &tooMuch{fmt.Sprintf("the file has %d bytes, at most %d are read", at.size, most)}
	}
	return r.contents.file, at, err
}

// info describes a node.
type info struct {
	*node
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// entry is a node in a listing.
type entry struct {
	*node
	r *Repository
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) Info() (fs.FileInfo, error) { return e.r.Stat(e.path) }

// file is an open file.
type file struct {
	info info
	*io.SectionReader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// folder is an open folder.
type folder struct {
	info info
	r    *Repository
	next int
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *folder) Close() error               { return nil }

func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.path, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or all that are left if n is not positive.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	all, err := f.r.ReadDir(f.info.path)
	if err != nil {
		return nil, err
	}
	rest := all[min(f.next, len(all)):]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		rest = rest[:min(n, len(rest))]
	}
	f.next += len(rest)
	return rest, nil
}
