package skill

import (
	"context"
	"io/fs"
	"iter"
	"path"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// Cached returns a source of the same skills that have folders, so that their scripts can run: a skill without a folder, such as one of a
// SourceFunc, is written to a folder below dir when a real path is needed. dir is an absolute directory that belongs to the user. The
// folder is read-only and named after the whole content digest, which is checked at each use; see FSOptions.Cache. Skills that have
// a folder keep it.
func Cached(source Source, dir string) Source {
	switch s := source.(type) {
	case nil:
		return nothing{}
	case merged:
		out := make(merged, len(s))
		for i, part := range s {
			out[i] = Cached(part, dir)
		}
		return out
	case *dirSource:
		return s
	case *fsSource:
		return FS(s.fsys, &FSOptions{Cache: dir})
	case Rooted:
		return struct {
			cached
			Rooted
		}{cached{source, dir}, s}
	}
	return cached{source, dir}
}

type cached struct {
	source Source
	dir    string
}

// Skills yields the skills of the source.
func (c cached) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		for f, err := range c.source.Skills(ctx) {
			if open := f.Open; open != nil {
				name := path.Base(f.Path)
				if name == "." { // the skill is its source
					name = "skill"
				}
				f.Open = func(ctx context.Context) (Tree, error) {
					t, err := open(ctx)
					if err != nil || t == nil || located(t) {
						return t, err
					}
					return &cachedTree{t, copies{dir: c.dir}, name}, nil
				}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// located reports whether a tree has a folder.
func located(t Tree) bool {
	if f, ok := t.(*fsTree); ok {
		return f.s.cache != ""
	}
	_, ok := t.(Locator)
	return ok
}

// cachedTree is a tree with a folder that is written when it is needed.
type cachedTree struct {
	Tree
	copies copies
	name   string
}

// The optional methods of a file system are those of the tree.

func (t *cachedTree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.Tree, name) }
func (t *cachedTree) ReadFile(name string) ([]byte, error)       { return fs.ReadFile(t.Tree, name) }
func (t *cachedTree) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(t.Tree, name) }
func (t *cachedTree) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(t.Tree, name) }
func (t *cachedTree) ReadLink(name string) (string, error)       { return fs.ReadLink(t.Tree, name) }

// Sum returns the hashes of the files.
func (t *cachedTree) Sum(ctx context.Context) (Sum, error) { return sumOf(ctx, t.Tree) }

// Location writes the skill to its folder, if it is not there, and returns it.
func (t *cachedTree) Location(ctx context.Context) (string, error) {
	sum, err := dirhash.Dir(ctx, t.Tree, nil) // what a tree says of itself is not the name of a folder
	if err != nil {
		return "", err
	}
	return materialise(ctx, t.Tree, &sum, t.copies, t.name)
}
