package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/walk"
)

// Folder returns a Fetcher for folders of this machine. The Snapshot has the regular files of the folder as they are when they are
// opened: nothing is copied and no program runs in it. A symbolic link to a regular file of the folder is that file; other
// links, folders of version control and what can hold secrets, such as .env, are left out.
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
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%q is no folder: name the folder that a skill is in, or an archive that ends in .zip, .tar.gz, .tgz or .skill", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	files, err := walk.OpenFS(dir)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f := &folder{root: root, files: files, left: map[string]bool{}}
	return &install.Snapshot{
		FS: f, Origin: install.Origin{Source: r.Source, URL: dir}, LeftOut: f.leftOut, Around: func(name string) bool { return around(dir, name) },
		Close: func() error { return errors.Join(files.Close(), root.Close()) },
	}, nil
}

// around reports whether the repository that a folder is in has something at a path from the folder, outside of it. Without a
// repository, nothing is said to be around.
func around(dir, name string) bool {
	top, at := repositoryOf(dir), filepath.Join(dir, filepath.FromSlash(name))
	if top == "" || at == dir || strings.HasPrefix(at, dir+string(filepath.Separator)) {
		return false
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return false
	}
	defer root.Close()
	rel, err := filepath.Rel(top, at)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	_, err = root.Stat(rel)
	return err == nil
}

// mostAbove is how many folders repositoryOf looks at.
const mostAbove = 20

// repositoryOf returns the nearest folder at or above a folder that is a repository, "" if there is none.
func repositoryOf(dir string) string {
	for range mostAbove {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			break
		}
		dir = above
	}
	return ""
}

// folder is a folder with regular files and folders only.
type folder struct {
	root  *os.Root // says what a path is
	files walk.FS  // opens it, and does not wait for a pipe

	mu   sync.Mutex
	left map[string]bool // what was left out of listings
	list []string        // in the order in which it was met
}

var (
	_ fs.ReadDirFS = (*folder)(nil)
	_ fs.StatFS    = (*folder)(nil)
)

const isLink = "is a symbolic link"

// omitted says why an entry is not part of a skill, "" if it is.
func omitted(name string, mode fs.FileMode) string {
	switch {
	case filename.IsRepository(name):
		return "is of version control"
	case content.Secret(name):
		return "can hold secrets"
	case mode&fs.ModeSymlink != 0:
		return isLink
	case !mode.IsDir() && !mode.IsRegular():
		return "is not a regular file"
	}
	return ""
}

// check describes a path and returns where its content is: elsewhere for a link. It returns an error for a path that is not there or
// leads through what is left out.
func (f *folder) check(op, name string) (at string, info fs.FileInfo, err error) {
	if !fs.ValidPath(name) {
		return "", nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		info, err := f.root.Stat(".")
		return name, info, err
	}
	for at := 0; ; at++ {
		rest := strings.IndexByte(name[at:], '/')
		if rest < 0 {
			return f.part(op, name)
		}
		at += rest
		if _, _, err := f.part(op, name[:at]); err != nil {
			return "", nil, err
		}
	}
}

// part is check for a path whose folders are known.
func (f *folder) part(op, name string) (at string, info fs.FileInfo, err error) {
	info, err = f.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return "", nil, err
	}
	at, why := name, omitted(info.Name(), info.Mode())
	if why == isLink {
		if at, why = f.follow(name); why == "" {
			target, err := f.root.Lstat(filepath.FromSlash(at))
			return at, renamed{target, info.Name()}, err
		}
	}
	if why != "" {
		return "", nil, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it %s: %w", why, fs.ErrNotExist)}
	}
	return at, info, nil
}

// follow returns the regular file of the folder that a link leads to, or why there is none.
func (f *folder) follow(name string) (file, why string) {
	target, err := f.root.Readlink(filepath.FromSlash(name))
	if err != nil {
		return "", isLink
	}
	return filename.Follow(name, filepath.ToSlash(target), func(p string) filename.Kind {
		info, err := f.root.Lstat(filepath.FromSlash(p))
		if err != nil {
			return filename.None
		}
		switch why := omitted(info.Name(), info.Mode()); {
		case why == isLink:
			return filename.Link
		case why != "":
			return filename.None
		case info.IsDir():
			return filename.Folder
		}
		return filename.File
	})
}

// renamed describes the file that a link leads to, under the name of the link.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// linked is the open file that a link leads to.
type linked struct {
	fs.File
	name string
}

func (l linked) Stat() (fs.FileInfo, error) {
	info, err := l.File.Stat()
	if err != nil {
		return nil, err
	}
	return renamed{info, l.name}, nil
}

// Open opens a file or a folder.
func (f *folder) Open(name string) (fs.File, error) {
	at, described, err := f.check("open", name)
	if err != nil {
		return nil, err
	}
	file, err := f.files.Open(at)
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
	if at != name {
		return linked{file, described.Name()}, nil
	}
	return file, nil
}

// Stat describes a file or a folder.
func (f *folder) Stat(name string) (fs.FileInfo, error) {
	_, info, err := f.check("stat", name)
	return info, err
}

// ReadDir lists a folder.
func (f *folder) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, _, err := f.check("readdir", name); err != nil {
		return nil, err
	}
	all, err := f.files.ReadDir(name)
	var out []fs.DirEntry
	for _, e := range all {
		switch why := omitted(e.Name(), e.Type()); why {
		case "":
			out = append(out, e)
		case isLink:
			out = f.appendLink(out, name, e.Name())
		default:
			f.leave(name, e.Name(), why)
		}
	}
	return out, err
}

// appendLink adds the file that a link leads to, or notes that it is left out.
func (f *folder) appendLink(out []fs.DirEntry, dir, name string) []fs.DirEntry {
	at := path.Join(dir, name)
	file, why := f.follow(at)
	if why != "" {
		f.leave(dir, name, why)
		return out
	}
	info, err := f.root.Lstat(filepath.FromSlash(file))
	if err != nil || !info.Mode().IsRegular() { // it was replaced in the meantime
		f.leave(dir, name, isLink)
		return out
	}
	return append(out, fs.FileInfoToDirEntry(renamed{info, name}))
}

// leave notes what a listing leaves out.
func (f *folder) leave(dir, name, why string) {
	if filename.IsRepository(name) {
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
