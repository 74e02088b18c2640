package hosttool

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
)

// maxVisited is how many files and folders one walk visits.
const maxVisited = 200_000

// walk visits the files below a place, see Walk.
func (p *place) walk(ctx context.Context, visit func(rel string, d fs.DirEntry) error) (partial bool, err error) {
	return Walk(ctx, p.root, p.rel, visit)
}

// Walk visits the files below a folder of root in the order of their paths, without .git and node_modules and without following
// links. It reports whether it stopped early.
func Walk(ctx context.Context, root *os.Root, folder string, visit func(rel string, d fs.DirEntry) error) (partial bool, err error) {
	seen := 0
	err = fs.WalkDir(root.FS(), folder, func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if rel == folder {
				return err
			}
			return nil // a folder that cannot be listed is left out
		}
		if seen++; seen > maxVisited {
			partial = true
			return fs.SkipAll
		}
		if d.IsDir() {
			if rel != folder && (d.Name() == ".git" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		return visit(rel, d)
	})
	return partial, err
}

// shownAs returns the path of a file in the root of p as results show it.
func (p *place) shownAs(rel string) string {
	if p.mount != nil {
		return path.Join(p.mount.path(), rel)
	}
	return rel
}

// relative returns the path of a file relative to the place, for patterns.
func (p *place) relative(rel string) string {
	if p.rel == "." {
		return rel
	}
	return strings.TrimPrefix(rel, p.rel+"/")
}

func checkPattern(pattern string) error {
	if pattern == "" {
		return unusable("pattern is required")
	}
	if err := glob.Check(pattern); err != nil {
		return unusable("the glob %q cannot be used: %v; write it like **/*.go", pattern, err)
	}
	return nil
}
