package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// bounds are those of the walk for packages below the working directory.
type bounds struct {
	packages int
	folders  int // that are looked at
	depth    int
}

func usualBounds() bounds { return bounds{packages: 256, folders: 20_000, depth: 10} }

// LayersAt returns the folders of skills of a package in the project, as Layers does for those above the working directory.
func (c *Config) LayersAt(dir string) []Layer {
	at := *c
	at.Roots, at.Paths.Project, at.Paths.Packages = nil, dir, nil
	var out []Layer
	for _, name := range []string{ProjectDir, Claude} {
		if c.reads(name) {
			out = append(out, at.layers(name)...)
		}
	}
	return out
}

// PackagesAt returns the packages of the project that a folder lies in and that are not among those of the working directory, the nearest
// first. dir is absolute and without links. What lies in a hidden folder, in node_modules or in a folder of another user than this one
// and root belongs to the folder above.
func (c *Config) PackagesAt(dir string) []string { return c.packagesAt(dir, lockfile.Owned) }

func (c *Config) packagesAt(dir string, owned func(fs.FileInfo) bool) []string {
	root, err := filepath.EvalSymlinks(c.Paths.Project)
	if err != nil || sameFolder(c.Paths.Project, c.Paths.Home) || !within(root, dir) {
		return nil
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return nil
	}
	at := root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		info, err := os.Lstat(filepath.Join(at, part))
		if passed(part) || err != nil || !info.IsDir() || !owned(info) {
			break
		}
		at = filepath.Join(at, part)
	}
	var out []string
	for _, p := range packages(at, root, owned) {
		if !c.known(p) {
			out = append(out, p)
		}
	}
	return out
}

// known reports whether the skills of a package are among those of the working directory.
func (c *Config) known(dir string) bool {
	for _, p := range c.Paths.Packages {
		if sameFolder(p, dir) {
			return true
		}
	}
	return false
}

// PackagesBelow returns the packages below the working directory, in the order of their paths. whole says that all folders were looked at.
func (c *Config) PackagesBelow(dir string) (out []string, whole bool) {
	return c.packagesBelow(dir, usualBounds(), lockfile.Owned)
}

func (c *Config) packagesBelow(dir string, most bounds, owned func(fs.FileInfo) bool) (out []string, whole bool) {
	if sameFolder(c.Paths.Project, c.Paths.Home) {
		return nil, true
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, true
	}
	n := 0
	whole = true
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil || !d.IsDir() || path == dir:
			return nil
		case passed(d.Name()):
			return fs.SkipDir
		}
		if n++; n > most.folders || len(out) >= most.packages {
			whole = false
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil || !owned(info) {
			return fs.SkipDir
		}
		if hasAgents(path) && !c.known(path) {
			out = append(out, path)
		}
		if rel, _ := filepath.Rel(dir, path); strings.Count(rel, string(filepath.Separator)) >= most.depth {
			whole = false
			return fs.SkipDir
		}
		return nil
	})
	return out, whole
}

// passed reports whether packages are not looked for in a folder of this name.
func passed(name string) bool { return strings.HasPrefix(name, ".") || name == "node_modules" }
