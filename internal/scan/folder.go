package scan

import (
	"os"
	"path/filepath"
)

// Folder is the open folder of one skill. It stays on that folder, even when another one is put
// in its place. Close it. It is safe for concurrent use until then.
type Folder struct {
	r     *Root
	dir   string
	path  string
	files backend
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
	f.files = files
	return f, nil
}

// Manifest reads the whole manifest of the given name.
func (f *Folder) Manifest(file string) ([]byte, Stamp, error) {
	o := f.r.o
	o.Enough = nil
	wk := &worker{buf: make([]byte, 4*block)}
	data, s, err := f.files.read(wk, ".", file, &o)
	if err == errLink {
		it := Item{Dir: f.dir, File: file}
		f.r.readLink(wk, &it, &o)
		data, s, err = it.Data, it.Stamp, it.Err
	}
	return data, s, err
}

// Path returns the absolute path of the folder when it was opened, links in the skill's own place
// resolved.
func (f *Folder) Path() string { return f.path }

// Root returns the folder as an os.Root of its own. Close it.
func (f *Folder) Root() (*os.Root, error) { return f.files.root(f.path) }

// Close closes the folder.
func (f *Folder) Close() error { return f.files.close() }
