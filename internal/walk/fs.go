package walk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"
)

// FS is a folder as a file system. Neither ".." nor a symbolic link leads out of it; links that stay inside are followed.
// Opening a pipe does not wait. The entries of a listing may be used until the FS is closed. Their sizes and times are those
// at the time of the listing or later. An FS is safe for concurrent use until it is closed.
//
// On Linux it makes a few system calls for each operation and does not enter other mounts. Elsewhere and on old kernels
// it uses os.Root. Validating thousands of skills reads their files through it.
type FS interface {
	fs.ReadDirFS
	fs.StatFS
	// In opens a folder as a file system of its own, which stays open when this one is closed. The folder may be a
	// mount point.
	In(dir string) (FS, error)
	io.Closer
}

// OpenFS opens a folder.
func OpenFS(dir string) (FS, error) {
	if f, err := openFS(dir); !errors.Is(err, errors.ErrUnsupported) {
		return f, err
	}
	return openPortableFS(dir)
}

func openPortableFS(dir string) (FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return portableFS{root}, nil
}

// portableFS is FS over os.Root.
type portableFS struct{ root *os.Root }

func (p portableFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return p.root.OpenFile(name, os.O_RDONLY|nonBlock, 0)
}

func (p portableFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(p.root.FS(), name) }
func (p portableFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(p.root.FS(), name) }
func (p portableFS) In(dir string) (FS, error) {
	root, err := p.root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return portableFS{root}, nil
}

func (p portableFS) Close() error { return p.root.Close() }

// Remember returns the file system with a Stat that does not look again for what lies in a folder that was not there. It is for
// checks of many skills, and safe for concurrent use. Closing it closes f.
func Remember(f FS) FS { return &remembering{FS: f} }

type remembering struct {
	FS
	gone sync.Map // whether a folder is not there, by path
	kept atomic.Int64
}

// mostKept is how many folders a remembering file system knows.
const mostKept = 100_000

func (r *remembering) Stat(name string) (fs.FileInfo, error) {
	if fs.ValidPath(name) {
		for i := range len(name) {
			if name[i] == '/' && r.absent(name[:i]) {
				return nil, &fs.PathError{Op: "stat", Path: name, Err: syscall.ENOENT}
			}
		}
	}
	return r.FS.Stat(name)
}

// absent reports whether there is no folder of that path.
func (r *remembering) absent(dir string) bool {
	if gone, known := r.gone.Load(dir); known {
		return gone.(bool)
	}
	_, err := r.FS.Stat(dir)
	gone := errors.Is(err, fs.ErrNotExist)
	if r.kept.Add(1) <= mostKept {
		r.gone.Store(strings.Clone(dir), gone)
	}
	return gone
}

// ReadOnce returns the file system with each folder read at most once, but for an empty one: another ReadDir of it returns
// the same listing, which must not be changed. Once the folder itself was read, what its listing does not have is not looked
// for any more. It is for several checks of one folder, and not safe for concurrent use. Closing it closes f.
func ReadOnce(f FS) FS { return &readOnce{FS: f} }

type readOnce struct {
	FS
	top   []fs.DirEntry            // of the folder itself; nil if it was not read, or is empty
	lists map[string][]fs.DirEntry // of the others
}

func (r *readOnce) Open(name string) (fs.File, error) {
	if r.absent(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	return r.FS.Open(name)
}

func (r *readOnce) Stat(name string) (fs.FileInfo, error) {
	if r.absent(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: syscall.ENOENT}
	}
	return r.FS.Stat(name)
}

// absent reports whether the listing of the folder shows that there is no file of that name. For file systems that fold
// names, it compares without case, and leaves names beyond ASCII to them.
func (r *readOnce) absent(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if r.top == nil || !fs.ValidPath(name) || name == "." || strings.ContainsFunc(first, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return false
	}
	return !slices.ContainsFunc(r.top, func(d fs.DirEntry) bool { return strings.EqualFold(d.Name(), first) })
}

func (r *readOnce) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == "." && r.top != nil {
		return r.top, nil
	}
	if list, ok := r.lists[name]; ok {
		return list, nil
	}
	list, err := r.FS.ReadDir(name)
	switch {
	case err != nil:
	case name == ".":
		r.top = list
	default:
		if r.lists == nil {
			r.lists = map[string][]fs.DirEntry{}
		}
		r.lists[name] = list
	}
	return list, err
}
