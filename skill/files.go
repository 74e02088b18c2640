package skill

import "io/fs"

// files is the file system of a skill as callers see it: its tree, until the skill is closed.
type files struct{ s *Skill }

func (f files) check(op, name string) error {
	if f.s.closed.Load() {
		return &fs.PathError{Op: op, Path: name, Err: ErrClosed}
	}
	return nil
}

func (f files) Open(name string) (fs.File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	return f.s.tree.Open(name)
}

func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	return fs.ReadDir(f.s.tree, name)
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	if err := f.check("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(f.s.tree, name)
}

func (f files) Lstat(name string) (fs.FileInfo, error) {
	if err := f.check("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(f.s.tree, name)
}

func (f files) ReadLink(name string) (string, error) {
	if err := f.check("readlink", name); err != nil {
		return "", err
	}
	return fs.ReadLink(f.s.tree, name)
}

// ReadManifest reads the manifest as the tree does.
func (f files) ReadManifest(file string) ([]byte, error) {
	if err := f.check("open", file); err != nil {
		return nil, err
	}
	return f.s.manifestBytes(file)
}
