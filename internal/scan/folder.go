package scan

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Folder is the open folder of one skill. It stays on that folder, even when another one is put
// in its place. Close it; one that is dropped instead is closed some time later. It is safe for concurrent use until then.
type Folder struct {
	r       *Root
	dir     string
	path    string
	files   backend
	cleanup runtime.Cleanup // closes a folder that nobody closed
	once    sync.Once
}

// Folder opens a folder that Walk found. A link in its path is judged again.
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

// Manifest reads the whole manifest of the given name.
func (f *Folder) Manifest(file string) ([]byte, Stamp, error) {
	o := f.r.o
	o.Enough = nil
	wk := &worker{buf: make([]byte, 8*block)}
	data, s, err := f.files.read(wk, ".", file, &o)
	if err == errLink {
		it := Item{Dir: f.dir, File: file}
		f.r.readLink(wk, &it, &o)
		data, s, err = it.Data, it.Stamp, it.Err
	}
	runtime.KeepAlive(f)
	return data, s, err
}

// Path returns the absolute path of the folder when it was opened, links in the skill's own place
// resolved.
func (f *Folder) Path() string { return f.path }

// Root returns the folder as an os.Root of its own. Close it.
func (f *Folder) Root() (*os.Root, error) {
	root, err := f.files.root(f.path)
	runtime.KeepAlive(f)
	return root, err
}

// Close closes the folder. Closing it again does nothing.
func (f *Folder) Close() (err error) {
	f.once.Do(func() {
		f.cleanup.Stop()
		err = f.files.close()
	})
	return err
}
