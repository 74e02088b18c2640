// Package scan finds the skills below a folder and reads the beginnings of their manifests, fast
// and confined.
//
// It probes for <dir>/SKILL.md instead of walking everything, and never descends into a skill: a
// SKILL.md below another skill is a file of that skill. Whatever is opened is opened below a root
// handle with no symbolic link in its path; a link is resolved first, judged by the policy (C38),
// and its target then opened in the same way, so that nothing that is swapped meanwhile leads out.
//
// On Linux it uses getdents and openat2(RESOLVE_BENEATH|RESOLVE_NO_SYMLINKS), elsewhere and on
// old kernels os.Root; a differential test holds both to the same answers.
//
// It refuses what is not a regular file, without waiting for it, and files over the size limit.
// A Root may be used by several goroutines at once until it is closed.
package scan

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

// Manifest is the name of a skill's manifest, and LowerManifest the one accepted in its place.
const (
	Manifest      = "SKILL.md"
	LowerManifest = "skill.md"
)

// Bounds of a walk below the direct children of the root (1.4). The children are never capped.
const (
	MaxDepth = 6
	MaxDirs  = 20_000
)

// MaxLinks is how many links to folders are followed below one root, its direct children among them: each is resolved
// from the root, through as many links as it leads over.
const MaxLinks = 1000

// Stamp identifies one state of a file: size in bytes, times in nanoseconds.
type Stamp struct {
	Size, MTime, CTime int64
	Inode              uint64
}

// Links says what is done with symbolic links (C38).
type Links uint8

// Contained follows a link whose target lies in the same root or in an allowed one; Deny follows
// none.
const (
	Contained Links = iota
	Deny
)

// Options says what Open and Walk accept.
type Options struct {
	Nested   bool // look below the direct children as well
	Links    Links
	Allow    []string // further roots that a link may lead into: absolute paths
	MaxSize  int64    // bytes of a manifest file
	Workers  int      // goroutines that read; default 16
	Portable bool     // use os.Root even where system calls could be used

	// MaxDirs replaces the bound of the same name, for tests.
	MaxDirs int
	// Enough reports whether what was read so far of a manifest is all that is wanted. Reading
	// goes on in blocks until it says so or the file ends. Nil reads whole files.
	Enough func([]byte) bool
}

const defaultWorkers = 16

// Errors of a single manifest. Tell them with errors.Is.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooBig     = errors.New("file is too big")
	ErrLeaves     = errors.New("symbolic link leads out of the skills folder")
	ErrDenied     = errors.New("symbolic links are not followed here")
	errLink       = errors.New("a symbolic link is in the path")
)

// Root is an open folder. Close it; one that is dropped instead is closed some time later.
type Root struct {
	o     Options
	path  string // absolute
	real  string // without symbolic links; resolved when first needed
	files backend

	cleanup runtime.Cleanup // closes a root that nobody closed

	mu     sync.Mutex
	bases  map[string]backend // allowed roots that were opened
	closed bool
}

// backend does the file system's part below one folder. Paths are slash paths, "." the folder.
type backend interface {
	// list returns the sub-directories and links of dir, and whether a manifest is among its
	// entries. Dot directories and node_modules are left out.
	list(w *worker, dir string) (listing, error)
	// read opens, checks and reads a file of dir. A path with a link in it gives errLink.
	read(w *worker, dir, file string, o *Options) ([]byte, Stamp, error)
	// stamp looks at a file without opening it, not following a link in the last place.
	stamp(w *worker, dir, file string) (Stamp, error)
	// sub opens dir as a backend of its own, which stays on that folder wherever it is moved.
	sub(dir string) (backend, error)
	// root returns the folder as an os.Root. path is where it was.
	root(path string) (*os.Root, error)
	// same reports whether both are open on one folder.
	same(other backend) bool
	close() error
}

type listing struct {
	dirs, links []string
	manifest    bool
}

// Open opens the folder. A path that does not exist gives an error that is fs.ErrNotExist.
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

// Close closes the root and the allowed roots that were opened with it. Closing it again does
// nothing.
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

// Same reports whether both are open on one folder, whatever its path.
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

// ignored reports whether a directory of this name is never looked into.
func ignored(name string) bool { return name[0] == '.' || name == "node_modules" }

func isManifest(name string) bool { return name == Manifest || name == LowerManifest }

// absent reports whether an error says that there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, errNameTooLong)
}

func join(dir, name string) string {
	if dir == "." || dir == "" {
		return name
	}
	return dir + "/" + name
}

func tooBig(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooBig, size, limit)
}

// under returns the path of file below dir, both absolute.
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
