package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/paths"
)

// Guard says which paths in the folders of a user a confined command does not see, and which it does not change. Scripts and
// the agent's own commands have the same.
type Guard struct {
	Home    string   // the user's home, absolute; "" for none
	Private []string // absolute paths that it does not see
	Keep    []string // absolute paths that it does not change
	Open    bool     // it may change what other programs obey, but for the settings of repositories
}

// Writable returns those of some folders that a command may write: the others lie in one of Keep.
func (g *Guard) Writable(folders []string) []string {
	return slices.DeleteFunc(slices.Clone(folders), func(dir string) bool { return paths.Within(g.Keep, dir) })
}

// matching returns the paths below a folder that match a pattern with "/". The folder's own name is no pattern.
func matching(dir, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are fixed; what cannot be read matches nothing
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}

// Protect sets what a command does not change in folders that it may write: Keep, Absent, Seen and Missing. What the user granted by name
// may be changed.
func (g *Guard) Protect(c *Command, folders, granted []string) {
	for _, dir := range paths.Unique(slices.Clone(folders)) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		s := look(&Seen{Dir: dir, home: dir == g.Home, open: g.Open, granted: granted})
		c.Seen = append(c.Seen, s)
		c.Keep, c.Absent = append(c.Keep, s.keep...), append(c.Absent, s.absent...)
		if missing := s.Missing(); missing != "" {
			c.Missing = append(c.Missing, missing)
		}
		for _, path := range g.Keep {
			if path == dir || !paths.Within([]string{dir}, path) {
				continue
			}
			if _, err := os.Lstat(path); err == nil {
				c.Keep = append(c.Keep, path)
			} else {
				c.Absent = append(c.Absent, path)
			}
		}
	}
	c.Keep, c.Absent = paths.Unique(paths.Without(c.Keep, granted)), paths.Unique(paths.Without(c.Absent, granted))
	c.Write = slices.DeleteFunc(c.Write, func(path string) bool { return slices.Contains(granted, path) && c.writesAlready(path, folders) })
}

// privateInHome are patterns of names in the home whose files a command does not see where the home is its folder.
var privateInHome = []string{".*", "Library", "AppData"}

// Hidden returns the paths in some folders that a command does not see: those of Private, the home if a folder holds it, and
// what privateInHome matches if a folder is the home. What the user granted by name is seen.
func (g *Guard) Hidden(folders, granted []string) []string {
	var out []string
	for _, dir := range folders {
		for _, path := range g.Private {
			if paths.Within([]string{dir}, path) {
				out = append(out, path)
			}
		}
		switch {
		case g.Home == "" || slices.Contains(granted, dir):
		case dir == g.Home:
			for _, pattern := range privateInHome {
				out = append(out, matching(dir, pattern)...)
			}
		case paths.Within([]string{dir}, g.Home):
			out = append(out, g.Home)
		}
	}
	return paths.Unique(paths.Without(out, granted))
}

// MayBeGranted reports whether a user may let a script write this path although other programs obey it: a file, or something of which
// nothing is known. What shells and version control obey is not offered.
func MayBeGranted(path string, isDir bool) bool {
	f, ok := obeyed.In(filepath.ToSlash(filepath.Dir(path)), filepath.Base(path))
	return ok && !f.Own && !(f.Listed && isDir) && !filename.IsRepository(filepath.Base(path))
}
