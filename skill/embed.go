package skill

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/agent-base/agent-base/skill/manifest"
)

// FS returns the source of the skills in the direct sub-directories of fsys, such as an embedded
// file system. Folders whose name starts with a dot are left out. A nil fsys is a problem of the catalogue,
// source-unreadable.
func FS(fsys fs.FS, o *FSOptions) Source {
	if fsys == nil {
		return nothing{}
	}
	s := &fsSource{fsys: fsys}
	if o != nil {
		s.cache = o.Cache
	}
	return s
}

// FSOptions says where the skills of an FS source are put when a real path is needed.
type FSOptions struct {
	// Cache is an absolute directory of the user's own. A skill is written once below it, under
	// the first 12 digits of its content digest, and read-only; the whole digest is checked at each
	// use. "" writes nothing, and the skills have no location: Skill.Dir is ErrNoFolder, and their scripts cannot run.
	// With a relative one it is alike, and Skill.Dir says why.
	Cache string
}

type fsSource struct {
	fsys  fs.FS
	cache string
}

// Roots returns none: what is embedded does not change. Catalog.Refresh looks at it all the same.
func (s *fsSource) Roots() []string { return nil }

// Skills yields the skills by path.
func (s *fsSource) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		list, err := fs.ReadDir(s.fsys, ".")
		if err != nil {
			yield(Found{Path: "."}, &manifest.Problem{Code: "source-unreadable", Severity: manifest.SeverityError, File: ".", Message: "skills cannot be listed: " + reasonOf(err)})
			return
		}
		for _, d := range list {
			if !d.IsDir() || strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			f, err := s.found(d.Name())
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

func (s *fsSource) found(dir string) (f Found, err error) {
	f = Found{Path: dir, Open: func(ctx context.Context) (Tree, error) { return s.tree(ctx, nil, dir) }}
	for _, f.File = range [...]string{"SKILL.md", "skill.md"} {
		f.Head, err = readCapped(s.fsys, path.Join(dir, f.File), manifest.MaxManifest)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

func (s *fsSource) tree(_ context.Context, _ *part, dir string) (Tree, error) {
	sub, err := fs.Sub(s.fsys, dir)
	if err != nil {
		return nil, err
	}
	return &fsTree{FS: sub, s: s, dir: dir}, nil
}

func (s *fsSource) file(dir, name string) string { return path.Join(dir, name) }
func (s *fsSource) base(dir string) string       { return path.Base(dir) }

// location writes the skill to the cache, if it is not there, and returns its folder.
func (s *fsSource) location(ctx context.Context, dir string) (string, error) {
	if s.cache == "" {
		return "", noFolder(path.Base(dir))
	}
	sub, err := fs.Sub(s.fsys, dir)
	if err != nil {
		return "", err
	}
	place, _, err := materialise(ctx, sub, copies{s.cache, shortDigits}, path.Base(dir))
	return place, err
}

// fsTree is the files of one skill of an FS source.
type fsTree struct {
	fs.FS
	s   *fsSource
	dir string
}

// Close does nothing: the file system is the program's own.
func (*fsTree) Close() error { return nil }

// Location writes the skill to the cache and returns its folder.
func (t *fsTree) Location(ctx context.Context) (string, error) { return t.s.location(ctx, t.dir) }
