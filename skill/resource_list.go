package skill

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/content"
)

// File is one regular file of a skill.
type File struct {
	Path string `json:"path"` // slash path below the skill
	Size int64  `json:"size"` // bytes
}

// maxWalk is the number of directory entries that Files reads.
const maxWalk = 50_000

// Files lists the skill's regular files by path, at most 1000; List reports whether there are more. Files leaves
// out what belongs to no skill, files that can hold secrets, such as .env, symbolic links that are broken or lead out of the skill, and everything that is neither a file
// nor a folder. The error is ErrClosed, that of ctx, or that of the skill's folder.
func (s *Skill) Files(ctx context.Context) ([]File, error) {
	files, _, err := s.List(ctx)
	return files, err
}

// List is like Files. It also reports whether the list is partial: there are more than 1000 files, or a folder
// cannot be read. After Digest it lists the files that the digest covers.
func (s *Skill) List(ctx context.Context) (out []File, partial bool, err error) {
	if err := s.usable(ctx); err != nil {
		return nil, false, err
	}
	if sum := s.sum.Load(); sum != nil {
		return s.summed(sum)
	}
	return s.list(ctx.Err)
}

// summed is List for a skill whose files are known: it lists those that the digest covers.
func (s *Skill) summed(sum *Sum) (out []File, partial bool, err error) {
	for _, f := range sum.Files {
		size, ok := f.Size, !content.Secret(f.Path)
		if ok && f.Link {
			info, err := fs.Stat(s.FS(), f.Path)
			if ok = err == nil && info.Mode().IsRegular(); ok {
				size = info.Size()
			}
		}
		switch {
		case !ok:
		case len(out) == maxFiles:
			return out, true, nil
		default:
			out = append(out, File{f.Path, size})
		}
	}
	return out, false, nil
}

// list is like List. It stops when stop returns an error.
func (s *Skill) list(stop func() error) (out []File, partial bool, err error) {
	seen := 0
	own := content.Of(s.tree)
	err = fs.WalkDir(own, ".", func(p string, d fs.DirEntry, err error) error {
		if err := stop(); err != nil {
			return err
		}
		if seen++; seen > maxWalk {
			partial = true
			return fs.SkipAll
		}
		if err != nil {
			if p == "." {
				return err
			}
			partial = true
			return nil
		}
		if d.IsDir() {
			return nil
		}
		if size, ok := regular(own, p, d); ok && !content.Secret(p) {
			if len(out) == maxFiles {
				partial = true
				return fs.SkipAll
			}
			out = append(out, File{p, size})
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, partial, nil
}

// regular returns the size of a regular file, following a link inside the skill.
func regular(own fs.FS, p string, d fs.DirEntry) (int64, bool) {
	if d.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(own, p)
		if err != nil || !info.Mode().IsRegular() {
			return 0, false
		}
		return info.Size(), true
	}
	if !d.Type().IsRegular() {
		return 0, false
	}
	info, err := d.Info()
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}
