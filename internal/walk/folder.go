package walk

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Folder is the open folder of one skill. It keeps referring to that folder even if another one takes its place. The
// caller closes it; a Folder that is dropped is closed some time later. It is safe for concurrent use; after Close its methods return fs.ErrClosed.
type Folder struct {
	r       *Root
	dir     string
	path    string
	files   backend
	cleanup runtime.Cleanup // closes a folder that the caller forgot

	mu     sync.RWMutex // held for reading while files is used
	closed bool
}

// Folder opens a folder that Walk found. It checks a link in the path again.
func (r *Root) Folder(dir string) (*Folder, error) {
	f := &Folder{r: r, dir: dir, path: r.path}
	if dir != "." {
		f.path += string(filepath.Separator) + filepath.FromSlash(dir)
	}
	files, err := r.files.sub(dir)
	if err == errLink {
		var at place
		if at, err = r.resolve(dir); err != nil {
			return nil, err
		}
		f.path = at.real
		files, err = at.files.sub(at.rel)
	}
	if err != nil {
		return nil, err
	}
	runtime.KeepAlive(r)
	f.files = files
	f.cleanup = runtime.AddCleanup(f, func(b backend) { b.close() }, files)
	return f, nil
}

// Manifest returns the whole manifest of the given name.
func (f *Folder) Manifest(file string) ([]byte, Stamp, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, Stamp{}, fs.ErrClosed
	}
	o := f.r.o
	o.Enough = nil
	buf := make([]byte, 8*block)
	wk := &worker{buf: &buf}
	data, s, err := f.files.read(wk, ".", file, &o)
	if err == errLink {
		it := Item{Dir: f.dir, File: file}
		f.r.readLink(wk, &it, &o)
		data, s, err = it.Data, it.Stamp, it.Err
	}
	return data, s, err
}

// Check returns an error that is ErrMount if a file that was opened below the folder lies on another mount, such as a bind
// mount or /proc. If the system does not report it, it returns nil.
func (f *Folder) Check(file *os.File) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.closed:
		return fs.ErrClosed
	case f.files.mounted(file):
		return &fs.PathError{Op: "open", Path: file.Name(), Err: ErrMount}
	}
	return nil
}

// Path returns the absolute path that the folder had when it was opened. A link that led to the skill is resolved.
func (f *Folder) Path() string { return f.path }

// Root returns the folder as an os.Root, which the caller closes. An os.Root does not stop at mount points: Check the files
// that it opens.
func (f *Folder) Root() (*os.Root, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closed {
		return nil, fs.ErrClosed
	}
	return f.files.root(f.path)
}

// Close closes the folder. Closing it again does nothing.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	f.cleanup.Stop()
	return f.files.close()
}
