package runner

import (
	"os"

	"github.com/agent-base/agent-base/internal/paths"
)

// Access is what a command may do with a path.
type Access int

// The kinds of access, from none to all.
const (
	Hides    Access = iota // the command does not see it
	MayRead                // it may read it
	MayWrite               // it may read and write it
)

// entries are paths of a command with what it may do with them and with what lies below them.
type entries struct {
	paths []string
	what  Access
}

// Access returns what the command's lists allow for an absolute path: the longest entry decides.
func (c *Command) Access(path string) Access {
	return decide(path, true, []entries{{c.Read, MayRead}, {c.Write, MayWrite}, {c.Keep, MayRead}, {c.Hide, Hides}})
}

// writesAlready reports whether a command may write a file because it may write a folder above it. Such a file is no grant of its own: it
// may be missing, and a sandbox could not let the command replace it.
func (c *Command) writesAlready(path string, folders []string) bool {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return false
	}
	return decide(path, false, []entries{{folders, MayWrite}, {c.Read, MayRead}, {c.Keep, MayRead}, {c.Hide, Hides}}) == MayWrite
}

// decide returns what the longest of the entries allows that is the path, if own is set, or a folder above it. Of two that are as long
// the later one decides.
func decide(path string, own bool, lists []entries) Access {
	longest, what := -1, Hides
	for _, list := range lists {
		for _, p := range list.paths {
			if (own || p != path) && len(p) >= longest && paths.Within([]string{p}, path) {
				longest, what = len(p), list.what
			}
		}
	}
	return what
}
