package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/scan"
)

// Folder returns a Fetcher for folders of this machine. The Snapshot has the regular files of the folder as they are when they are
// opened: nothing is copied, no link is followed and no program runs in it. Folders called .git and node_modules are left out.
func Folder() install.Fetcher {
	return install.FetcherFunc(fetchFolder)
}

func fetchFolder(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir := r.Source.URL
	if r.Source.Kind != source.Folder || !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("%q is not the absolute path of a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	files, err := scan.OpenFS(dir)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &folder{root: root, files: files, left: map[string]bool{}}
	return &install.Snapshot{
		FS: f, Origin: install.Origin{Source: r.Source, URL: dir}, LeftOut: f.leftOut,
		Close: func() error { return errors.Join(files.Close(), root.Close()) },
	}, nil
}

// folder is a folder with regular files and folders only.
type folder struct {
	root  *os.Root // says what a path is
	files scan.FS  // opens it, and does not wait for a pipe

	mu   sync.Mutex
	left map[string]bool // what was left out of listings
	list []string        // in the order in which it was met
}

var (
	_ fs.ReadDirFS = (*folder)(nil)
	_ fs.StatFS    = (*folder)(nil)
)

// omitted says why an entry is not part of a skill, "" if it is.
func omitted(name string, mode fs.FileMode) string {
	switch {
	case mode.IsDir() && name == "node_modules":
		return "is a folder of installed packages"
	case filename.IsGit(name):
		return "is git's own"
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case !mode.IsDir() && !mode.IsRegular():
		return "is not a regular file"
	}
	return ""
}

// check returns an error for a path that is not there or leads through what is left out.
func (f *folder) check(op, name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return f.root.Stat(".")
	}
	for at := 0; ; at++ {
		rest := strings.IndexByte(name[at:], '/')
		if rest < 0 {
			return f.part(op, name)
		}
		at += rest
		if _, err := f.part(op, name[:at]); err != nil {
			return nil, err
		}
	}
}

func (f *folder) part(op, name string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if why := omitted(info.Name(), info.Mode()); why != "" {
		return nil, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it %s: %w", why, fs.ErrNotExist)}
	}
	return info, nil
}

// Open opens a file or a folder.
func (f *folder) Open(name string) (fs.File, error) {
	if _, err := f.check("open", name); err != nil {
		return nil, err
	}
	file, err := f.files.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // it was replaced in the meantime
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if info.IsDir() {
		return &openFolder{File: file, f: f, name: name}, nil
	}
	return file, nil
}

// Stat describes a file or a folder.
func (f *folder) Stat(name string) (fs.FileInfo, error) { return f.check("stat", name) }

// ReadDir lists a folder.
func (f *folder) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := f.check("readdir", name); err != nil {
		return nil, err
	}
	all, err := f.files.ReadDir(name)
	var out []fs.DirEntry
	for _, e := range all {
		if why := omitted(e.Name(), e.Type()); why != "" {
			f.leave(name, e.Name(), why)
			continue
		}
		out = append(out, e)
	}
	return out, err
}

// leave notes what a listing leaves out.
func (f *folder) leave(dir, name, why string) {
	if filename.IsGit(name) {
		return // nobody misses it
	}
	if dir != "." {
		name = dir + "/" + name
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.left[name] {
		f.left[name] = true
		f.list = append(f.list, name+" "+why)
	}
}

func (f *folder) leftOut() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.list...)
}

// openFolder is an open folder, whose listing has no more than ReadDir.
type openFolder struct {
	fs.File
	f    *folder
	name string
	rest []fs.DirEntry
	read bool
}

// ReadDir returns the next n entries, or all that are left if n is not positive.
func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !o.read {
		list, err := o.f.ReadDir(o.name)
		if err != nil {
			return nil, err
		}
		o.rest, o.read = list, true
	}
	if n > 0 && len(o.rest) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.rest) {
		n = len(o.rest)
	}
	out := o.rest[:n:n]
	o.rest = o.rest[n:]
	return out, nil
}
