package library

import (
	"context"
	"errors"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Bounds of what a conversation finds below the working directory.
const (
	mostTouched  = 1_000 // folders
	mostPackages = 32    // with skills
)

// below has the packages of the project that were found since the start. It is a skill.Source of their skills. It is safe for
// concurrent use.
type below struct {
	layers func(dir string) []config.Layer
	source func(config.Layer) skill.Source

	mu    sync.Mutex
	seen  map[string]bool // folders
	found []string        // packages
}

// touch takes note of a folder in which something is read, changed or run, and returns the packages that are new.
func (b *below) touch(dir string, at func(dir string) []string) (fresh []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[dir] || len(b.seen) >= mostTouched {
		return nil
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[dir] = true
	for _, p := range at(dir) {
		if !slices.Contains(b.found, p) && len(b.found) < mostPackages {
			b.found, fresh = append(b.found, p), append(fresh, p)
		}
	}
	return fresh
}

func (b *below) packages() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.found)
}

// all returns the folders of skills of all packages.
func (b *below) all() (out []config.Layer) {
	for _, p := range b.packages() {
		out = append(out, b.layers(p)...)
	}
	return out
}

// Roots returns the folders of the skills.
func (b *below) Roots() []string {
	var out []string
	for _, l := range b.all() {
		out = append(out, l.Dir)
	}
	return out
}

// Skills yields the skills of all packages. The path of each begins with its folder's.
func (b *below) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		for _, l := range b.all() {
			for f, err := range b.source(l).Skills(ctx) {
				if f.Open != nil && !l.Commands {
					f.Folder = filepath.Join(l.Dir, filepath.FromSlash(f.Path))
				}
				if f.Path = path.Join(strings.TrimPrefix(filepath.ToSlash(l.Dir), "/"), f.Path); !yield(f, err) {
					return
				}
			}
		}
	}
}

// FollowBelow has the catalogues that are opened from now on find the skills of packages that Touch names.
func (l *Library) FollowBelow() { l.below = l.newBelow() }

func (l *Library) newBelow(packages ...string) *below {
	return &below{layers: l.Settings.Config().LayersAt, source: l.source, found: packages}
}

// Touch takes note of a file or folder, an absolute path, in which something is read, changed or run. It returns the packages
// of the project that are found by it: the next Refresh of a catalogue has their skills. It is safe for concurrent use.
func (l *Library) Touch(path string) []string {
	if l.below == nil {
		return nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	return l.below.touch(paths.Real(path), l.Settings.Config().PackagesAt)
}

// OpenFor is like Open. If no skill has the name, the catalogue also has those of packages below the working directory: what a
// conversation names can be typed.
func (l *Library) OpenFor(ctx context.Context, name string) (*skill.Catalog, error) {
	cat, err := l.Open(ctx)
	if err != nil {
		return nil, err
	}
	if _, missing := cat.Lookup(name); !errors.As(missing, new(*skill.NotFoundError)) {
		return cat, nil
	}
	packages, _ := l.Settings.Config().PackagesBelow(l.Sys.Dir)
	if len(packages) == 0 {
		return cat, nil
	}
	more := *l
	more.below = l.newBelow(packages...)
	with, err := more.OpenQuietly(ctx)
	if err != nil {
		return cat, nil //nolint:nilerr // the catalogue without them has opened
	}
	if _, err := with.Lookup(name); err != nil {
		return cat, nil //nolint:nilerr // its error has what else it may be called
	}
	return with, nil
}

// Below returns the skills of packages below the working directory, which a conversation finds once it works there. whole says that
// each folder was looked at.
func (l *Library) Below(ctx context.Context) (list []skill.Entry, whole bool, err error) {
	packages, whole := l.Settings.Config().PackagesBelow(l.Sys.Dir)
	o, err := l.Options()
	if err != nil || len(packages) == 0 {
		return nil, whole, err
	}
	profile, _ := manifest.ProfileNamed(l.Settings.Config().Profile) // a setting has no other name
	o.Layers = []skill.Layer{{Name: config.ProjectDir, Source: l.newBelow(packages...), Profile: profile}}
	cat, err := skill.Open(ctx, o)
	if err != nil {
		return nil, whole, err
	}
	for e := range cat.All() {
		list = append(append(list, e), e.Shadows()...)
	}
	return list, whole, nil
}

// Near returns a path as it is seen from the working directory, if it is below it.
func (l *Library) Near(path string) string {
	if rel, err := filepath.Rel(paths.Real(l.Sys.Dir), path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
