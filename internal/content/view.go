package content

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// Of returns the files of a skill's folder that belong to the skill: a file system that neither lists nor opens leftovers. The
// error for one wraps fs.ErrNotExist and says what it is.
func Of(fsys fs.FS) fs.FS { return Without(fsys, nil) }

// Without is Of that tells note, if it is not nil, of each leftover that a listing of its folder does without.
func Without(fsys fs.FS, note func(name, kind string)) fs.FS { return view{fsys, note} }

type view struct {
	fs.FS
	note func(name, kind string)
}

var (
	_ fs.ReadDirFS  = view{}
	_ fs.StatFS     = view{}
	_ fs.ReadLinkFS = view{}
)

func (v view) check(op, name string) error {
	if kind := Within(v.FS, name); kind != "" {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it is %s, which belongs to no skill: %w", kind, fs.ErrNotExist)}
	}
	return nil
}

// Open opens a file or a folder.
func (v view) Open(name string) (fs.File, error) {
	if err := v.check("open", name); err != nil {
		return nil, err
	}
	f, err := v.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if dir, ok := f.(fs.ReadDirFile); ok {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return &folder{dir, v, name}, nil
		}
	}
	return f, nil
}

// ReadDir lists a folder.
func (v view) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := v.check("readdir", name); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(v.FS, name)
	return v.own(name, list), err
}

// own drops the leftovers from the entries of a folder.
func (v view) own(dir string, list []fs.DirEntry) []fs.DirEntry {
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		name := join(dir, e.Name())
		kind := Leftover(v.FS, name)
		if kind != "" && v.note != nil {
			v.note(name, kind)
		}
		return kind != ""
	})
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// Stat describes a file, following links.
func (v view) Stat(name string) (fs.FileInfo, error) {
	if err := v.check("stat", name); err != nil {
		return nil, err
	}
	return fs.Stat(v.FS, name)
}

// Lstat describes a file without following a link.
func (v view) Lstat(name string) (fs.FileInfo, error) {
	if err := v.check("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(v.FS, name)
}

// ReadLink returns the text of a link.
func (v view) ReadLink(name string) (string, error) {
	if err := v.check("readlink", name); err != nil {
		return "", err
	}
	return fs.ReadLink(v.FS, name)
}

// folder is an open folder.
type folder struct {
	fs.ReadDirFile
	v    view
	name string
}

// ReadDir returns the next entries, as fs.ReadDirFile says.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	for {
		list, err := f.ReadDirFile.ReadDir(n)
		own := f.v.own(f.name, list)
		if n <= 0 || len(own) > 0 || err != nil {
			return own, err
		}
		if len(list) == 0 {
			return nil, io.EOF
		}
	}
}

// Left is a leftover.
type Left struct {
	Path string // slash path below the folder
	Kind string // what it is, as Leftover returns it
}

// mostSeen is how many entries of folders Leftovers looks at.
const mostSeen = 50_000

// Leftovers lists the leftovers in a skill's folder; of a folder that is one, that alone and not what is in it. What cannot be listed
// has none.
func Leftovers(ctx context.Context, fsys fs.FS) (out []Left, err error) {
	own, seen := Without(fsys, func(name, kind string) { out = append(out, Left{name, kind}) }), 0
	err = fs.WalkDir(own, ".", func(p string, _ fs.DirEntry, err error) error {
		if seen++; seen > mostSeen {
			return fs.SkipAll
		}
		if err != nil && p != "." {
			return nil //nolint:nilerr // see above
		}
		return cmp.Or(ctx.Err(), err)
	})
	return out, err
}
