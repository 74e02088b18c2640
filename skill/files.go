package skill

import (
	"io/fs"

	"github.com/agent-base/agent-base/internal/content"
)

// files is the file system of a skill as callers see it: what of its tree belongs to it, until the skill is closed.
type files struct {
	s     *Skill
	whole bool // with what does not belong to the skill
}

func (f files) check(op, name string) (fs.FS, error) {
	if f.s.closed.Load() {
		return nil, &fs.PathError{Op: op, Path: name, Err: ErrClosed}
	}
	if f.whole {
		return f.s.tree, nil
	}
	return content.Of(f.s.tree), nil
}

func (f files) Open(name string) (fs.File, error) {
	own, err := f.check("open", name)
	if err != nil {
		return nil, err
	}
	return own.Open(name)
}

func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	own, err := f.check("open", name)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(own, name)
}

func (f files) Stat(name string) (fs.FileInfo, error) {
	own, err := f.check("stat", name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(own, name)
}

func (f files) Lstat(name string) (fs.FileInfo, error) {
	own, err := f.check("lstat", name)
	if err != nil {
		return nil, err
	}
	return fs.Lstat(own, name)
}

func (f files) ReadLink(name string) (string, error) {
	own, err := f.check("readlink", name)
	if err != nil {
		return "", err
	}
	return fs.ReadLink(own, name)
}

// ReadManifest reads the manifest as the tree does.
func (f files) ReadManifest(file string) ([]byte, error) {
	if _, err := f.check("open", file); err != nil {
		return nil, err
	}
	return f.s.manifestBytes(file)
}
