package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Source yields the skills of one place. Skills must be safe for concurrent use and must stop
// when its context ends. An error beside a Found is about that candidate alone: a *Problem keeps
// its code, and the walk goes on.
type Source interface {
	Skills(context.Context) iter.Seq2[Found, error]
}

// SourceFunc makes a Source of a function.
type SourceFunc func(context.Context) iter.Seq2[Found, error]

// Skills calls f.
func (f SourceFunc) Skills(ctx context.Context) iter.Seq2[Found, error] { return f(ctx) }

// Found is one skill as a source sees it. It is valid until the iteration goes on.
type Found struct {
	Path  string // slash path of its directory below the source's root
	File  string // name of its manifest: "SKILL.md", or "skill.md" where only that is there
	Stamp Stamp  // what the file system says of the manifest; zero when there is nothing to tell
	Head  []byte // the manifest from its first byte to the end of the front matter at least

	// Open gives the skill's files. The catalogue calls it when the skill is loaded.
	Open func(context.Context) (Tree, error)
}

// Stamp identifies one state of a file without reading it.
type Stamp struct {
	Size, MTime, CTime int64 // bytes, nanoseconds
	Inode              uint64
}

// Tree is the file system of one skill, confined to its directory.
type Tree interface {
	fs.FS
	io.Closer
}

// Locator is what a Tree can be as well when its files lie on disk, or can be put there.
type Locator interface {
	Location() (string, error) // absolute directory
}

// Layer is a source with its name and the path under which its skills are mounted for a model
// (R54). The order of layers is their precedence, highest first (C16).
type Layer struct {
	Name   string // "project", "user", "bundled" …; several layers may share a name
	Mount  string // default: "skills"
	Source Source
	Trust  Trust // Bundled for what came with the program; Untrusted leaves it to Options.Trust
}

// DirOptions bounds what Dir finds.
type DirOptions struct {
	Nested bool // also below the direct children, depth 6 and 20,000 directories
}

// Dir returns the source of the skills in the folder root: its sub-directories that hold a
// SKILL.md. A folder that does not exist has no skills.
func Dir(root string, o *DirOptions) Source {
	return &dirSource{root: root}
}

type dirSource struct{ root string }

func (s *dirSource) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		root, err := os.OpenRoot(s.root)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Found{Path: "."}, err)
			return
		}
		defer root.Close()
		list, err := fs.ReadDir(root.FS(), ".")
		if err != nil {
			yield(Found{Path: "."}, err)
			return
		}
		for _, d := range list {
			if !d.IsDir() || strings.HasPrefix(d.Name(), ".") {
				continue
			}
			f, err := s.probe(root, d.Name())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

func (s *dirSource) probe(root *os.Root, dir string) (Found, error) {
	f := Found{Path: dir, File: "SKILL.md", Open: func(context.Context) (Tree, error) {
		return openTree(filepath.Join(s.root, dir))
	}}
	file, err := root.OpenFile(path.Join(dir, f.File), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return f, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("%q is not a regular file", path.Join(dir, f.File))
	}
	f.Head, err = io.ReadAll(io.LimitReader(file, MaxManifest+1))
	return f, err
}

type dirTree struct {
	fs.FS
	root *os.Root
}

func openTree(dir string) (Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &dirTree{root.FS(), root}, nil
}

func (t *dirTree) Close() error              { return t.root.Close() }
func (t *dirTree) Location() (string, error) { return filepath.Abs(t.root.Name()) }
