package hosttool

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a walk and of a glob.
const (
	maxVisited = 200_000 // files and folders of one walk
	maxPattern = 256     // bytes of a glob
	maxBraces  = 4       // groups of alternatives in a glob: each multiplies the work
)

// walk visits the files below a place by path: not what git and npm keep, and never through a link. It reports whether
// it stopped early.
func (p *place) walk(ctx context.Context, visit func(rel string, d fs.DirEntry) error) (partial bool, err error) {
	seen := 0
	err = fs.WalkDir(p.root.FS(), p.rel, func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if rel == p.rel {
				return err
			}
			return nil // what cannot be listed is left out
		}
		if seen++; seen > maxVisited {
			partial = true
			return fs.SkipAll
		}
		if d.IsDir() {
			if rel != p.rel && (d.Name() == ".git" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		return visit(rel, d)
	})
	return partial, err
}

// shownAs returns what results call a file below the root of p.
func (p *place) shownAs(rel string) string {
	if p.mount != nil {
		return path.Join(p.mount.path(), rel)
	}
	return rel
}

// relative returns the path of a file below the place itself, for patterns.
func (p *place) relative(rel string) string {
	if p.rel == "." {
		return rel
	}
	return strings.TrimPrefix(rel, p.rel+"/")
}

func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return unusable("pattern is required")
	case len(pattern) > maxPattern:
		return unusable("glob has %d bytes, at most %d are allowed", len(pattern), maxPattern)
	case strings.Count(pattern, "{") > maxBraces:
		return unusable("glob has more than %d groups in braces", maxBraces)
	case !doublestar.ValidatePattern(pattern):
		return unusable("%q is no valid glob: write it like **/*.go", pattern)
	}
	return nil
}
