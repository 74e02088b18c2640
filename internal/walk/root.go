// Package walk finds the manifests of skills below a folder, and reads the beginnings of them, fast and safely. Of skills
// it knows only the file name SKILL.md (and skill.md); what a manifest says is up to its callers.
//
// A walk looks for <dir>/SKILL.md and does not descend into a folder that has one: a SKILL.md further below is a file of that
// skill. Collection has the exceptions, because repositories have a SKILL.md beside their skills.
//
// Everything is opened below the handle of a root, through no symbolic link. A link on the way is resolved first and checked
// against Options.Links; its target is then opened in the same way. So nothing that is swapped in the meantime leads out of
// the root.
//
// On Linux the package uses getdents and openat2 with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_XDEV. A root
// and the folder of a skill may be mount points; what is mounted below a skill is not read. On other systems and on old
// kernels it uses os.Root, which does not stop at mount points; otherwise a test holds both to the same answers.
//
// The package refuses files over a size limit and files that are not regular, without waiting for them. A file that
// another process keeps busy is an error of that file alone. A Root is safe for concurrent use until it is closed.
package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Manifest is the name of a skill's manifest. LowerManifest is accepted in its place.
const (
	Manifest      = "SKILL.md"
	LowerManifest = "skill.md"
)

// Bounds of a walk: levels below the root, and folders below its direct children. The children are not bounded.
const (
	MaxDepth = 10
	MaxDirs  = 100_000
)

// MaxLinks is how many links to folders are followed below one root, including its direct children. Each link costs a
// resolution of its whole path.
const MaxLinks = 1000

// Stamp identifies one state of a file: size in bytes, times in nanoseconds.
type Stamp struct {
	Size, MTime, CTime int64
	Inode              uint64
}

// Links says which symbolic links are followed.
type Links uint8

// Contained follows a link whose target lies in the same root or in an allowed one. Deny follows none.
const (
	Contained Links = iota
	Deny
)

// Options configures a Root.
type Options struct {
	Nested bool   // look below the direct children as well
	Inside bool   // also note the manifests below skills and, with Nested, in hidden folders that are not searched
	Listed string // the hidden folder of the root whose manifests the caller lists itself: Inside notes none of them
	Links  Links
	Allow  []string // absolute paths of other roots that links may lead into
	// Own returns the folder of which a link's target may be read although it lies in none of these, "" if it may not. The target is
	// absolute and without links, and so is the folder. A nil Own returns "".
	Own      func(target string) string
	MaxSize  int64 // of a manifest, in bytes
	Workers  int   // goroutines that read; default 16
	Portable bool  // use os.Root even where system calls could be used

	// Bare looks for manifests without reading them: an Item has no Data, and an Err only if there is something else in a
	// manifest's place. A manifest behind a link is read nevertheless.
	Bare bool
	// MaxDirs replaces the bound of the same name, for tests.
	MaxDirs int
	// Enough reports whether the bytes read so far of a manifest suffice. The file is read in blocks until Enough
	// returns true or the file ends. Nil means to read whole files.
	Enough func([]byte) bool
}

const defaultWorkers = 16

// Errors of a single manifest, to be tested with errors.Is.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooBig     = errors.New("file is too big")
	ErrLeaves     = errors.New("symbolic link leads out of the skills folder")
	ErrDenied     = errors.New("symbolic links are not followed here")
	ErrNowhere    = errors.New("symbolic link leads nowhere")
	ErrBusy       = errors.New("file is busy: another process holds a lease on it or keeps renaming it")
	ErrMount      = errors.New("file lies on another mount than its skill")
	errLink       = errors.New("a symbolic link is in the path")
	errOutside    = errors.New("path leads out of the folder or into another mount")
)

// Code returns the code of the problem for an error of reading a manifest.
func Code(err error) string {
	switch {
	case errors.Is(err, ErrNotRegular):
		return "manifest-irregular"
	case errors.Is(err, ErrTooBig):
		return "file-size"
	case errors.Is(err, ErrLeaves), errors.Is(err, ErrDenied), errors.Is(err, ErrNowhere):
		return "manifest-link"
	}
	return "file-unreadable"
}

// Root is an open folder of skills. The caller closes it; a Root that is dropped is closed some time later.
type Root struct {
	o     Options
	path  string // absolute
	real  string // the path without symbolic links, resolved when first needed
	files backend

	cleanup runtime.Cleanup // closes a root that the caller forgot

	mu     sync.Mutex
	bases  map[string]backend // allowed roots that were opened
	closed bool
}

// backend accesses the files below one folder. Paths are slash paths; "." is the folder itself.
type backend interface {
	// list returns the sub-directories and links of dir and whether it has a manifest. It leaves out node_modules and
	// dot directories, except for those whose names are in hidden.
	list(w *worker, dir string, hidden []string) (listing, error)
	// read opens, checks and reads a file of dir. It returns errLink if there is a link in the path.
	read(w *worker, dir, file string, o *Options) ([]byte, Stamp, error)
	// stat returns the stamp and the type of a file without opening it. It does not follow a link in the last place.
	stat(w *worker, dir, file string) (Stamp, fs.FileMode, error)
	// sub opens dir as a backend of its own, which keeps referring to that folder even if it is moved.
	sub(dir string) (backend, error)
	// mounted reports whether an open file lies on another mount than the folder, as far as the system says so.
	mounted(f *os.File) bool
	// root returns the folder as an os.Root. path is where the folder was.
	root(path string) (*os.Root, error)
	// same reports whether both refer to one folder.
	same(other backend) bool
	close() error
}

type listing struct {
	dirs, links []string
	manifest    bool
	misnamed    string // a file with the name of a manifest in another case
	empty       bool   // there is nothing in it
}

// Open opens a folder. For a path that does not exist the error wraps fs.ErrNotExist.
func Open(path string, o *Options) (*Root, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	r := &Root{o: *o, path: abs, bases: map[string]backend{}}
	if r.o.Workers <= 0 {
		r.o.Workers = defaultWorkers
	}
	if r.o.MaxDirs <= 0 {
		r.o.MaxDirs = MaxDirs
	}
	if r.files, err = openBackend(abs, o.Portable); err != nil {
		return nil, err
	}
	r.cleanup = runtime.AddCleanup(r, func(b backend) { b.close() }, r.files)
	return r, nil
}

// Close closes the root and the allowed roots that it opened. Closing it again does nothing.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.cleanup.Stop()
	for _, b := range r.bases {
		b.close()
	}
	clear(r.bases)
	return r.files.close()
}

// Path returns the absolute path that was opened.
func (r *Root) Path() string { return r.path }

// Same reports whether both refer to one folder, whatever their paths.
func (r *Root) Same(other *Root) bool {
	same := r.files.same(other.files)
	runtime.KeepAlive(r)
	runtime.KeepAlive(other)
	return same
}

func openBackend(path string, portable bool) (backend, error) {
	if !portable {
		if b, err := openFast(path); b != nil || err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return b, err
		}
	}
	return openPortable(path)
}

// absent reports whether an error means that the file does not exist.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, errNameTooLong)
}

func isManifest(name string) bool { return name == Manifest || name == LowerManifest }

func join(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

func tooBig(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooBig, size, limit)
}

// under returns the path of file relative to dir. Both are absolute.
func under(dir, file string) (string, bool) {
	if file == dir {
		return ".", true
	}
	if dir != "/" {
		dir += string(filepath.Separator)
	}
	rel, ok := strings.CutPrefix(file, dir)
	return filepath.ToSlash(rel), ok
}
