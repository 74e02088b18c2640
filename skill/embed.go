package skill

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill/manifest"
)

// FS returns the source of the skills in the direct sub-directories of fsys, such as an embedded file system. It
// ignores folders whose name starts with a dot. A nil fsys is a problem of the catalogue, source-unreadable.
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

// FSOptions configures FS. It says where skills are written when a real path is needed.
type FSOptions struct {
	// Cache is an absolute directory that belongs to the user. A skill is written once, read-only, to a folder below it
	// that is named after the first 12 digits of the content digest. Each use checks the whole digest. If Cache is "",
	// nothing is written and the skills have no location: Skill.Dir returns ErrNoFolder, and scripts cannot run. The
	// same holds for a relative Cache; the error of Skill.Dir then says so. Who removes the folders makes them writable first,
	// as skilltest.TempDir does for tests.
	Cache string
}

type fsSource struct {
	fsys  fs.FS
	cache string
}

// Roots returns no folders, since embedded files do not change. Catalog.Refresh reads them nevertheless.
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

// location writes the skill to the cache if it is not there yet, and returns its folder.
func (s *fsSource) location(ctx context.Context, dir string) (string, error) {
	if s.cache == "" {
		return "", noFolder(path.Base(dir))
	}
	sub, err := fs.Sub(s.fsys, dir)
	if err != nil {
		return "", err
	}
	sum, err := dirhash.Dir(ctx, sub, nil)
	if err != nil {
		return "", err
	}
	return materialise(ctx, sub, &sum, copies{s.cache, shortDigits}, path.Base(dir))
}

// fsTree holds the files of one skill of an FS source.
type fsTree struct {
	fs.FS
	s   *fsSource
	dir string
}

// Close does nothing: the file system belongs to the program.
func (*fsTree) Close() error { return nil }

// Location writes the skill to the cache and returns its folder.
func (t *fsTree) Location(ctx context.Context) (string, error) { return t.s.location(ctx, t.dir) }
