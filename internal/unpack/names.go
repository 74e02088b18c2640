package unpack

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// Names checks the names of the files of a skill, by the rules of a Writer. It is for one goroutine.
type Names struct {
	o    Options
	left int // files and folders that may still be added
	seen map[string]entry
}

// entry is a file or folder that was added.
type entry struct {
	name string // as it was spelled
	dir  bool
}

// NewNames returns an empty Names. o may be nil.
func NewNames(o *Options) *Names {
	n := &Names{o: filled(o), seen: map[string]entry{}}
	n.left = n.o.MaxFiles
	return n
}

// Add checks and counts the name of a file, or of a folder, and the folders above it. It returns an *Error for a path that is not
// plainly one file below the root on every system, for one that is another one on some system, for a second file of a name, and
// if there are too many.
func (n *Names) Add(name string, dir bool) error {
	if err := n.check(name); err != nil {
		return err
	}
	for i, c := range name {
		if c == '/' {
			if err := n.see(name[:i], true); err != nil {
				return err
			}
		}
	}
	return n.see(name, dir)
}

// see counts a file or folder that is new, and refuses one that is another one on some system.
func (n *Names) see(name string, dir bool) error {
	key := filename.Fold(name)
	old, known := n.seen[key]
	switch {
	case known && old.name != name:
		return refuse(name, "%s", sameAs(old.name))
	case known && old.dir != dir:
		return refuse(name, "is a file and a folder")
	case known && !dir:
		return refuse(name, "is there twice")
	case known:
		return nil
	}
	if n.left--; n.left < 0 {
		return refuse(name, "is one more than the %d files and folders that are allowed", n.o.MaxFiles)
	}
	n.seen[key] = entry{name, dir}
	return nil
}

// odd says why the last part of a path, below folders that were added, is no name that Add takes, "" if it is one. Of a .git folder it says nothing.
func (n *Names) odd(name string) string {
	old, known := n.seen[filename.Fold(name)]
	if known && old.name != name {
		return sameAs(old.name)
	}
	if why := filename.Unsafe(path.Base(name)); why != "" {
		return "has a name that " + why
	}
	return ""
}

func sameAs(name string) string {
	return fmt.Sprintf("is the same as %.200q where case and accents are not told apart", name)
}

// check returns an error for a path that is not plainly one file below the root, on every system.
func (n *Names) check(name string) error {
	switch {
	case len(name) > n.o.MaxPath:
		return refuse(name, "is a path of more than %d bytes", n.o.MaxPath)
	case strings.Count(name, "/") >= n.o.MaxDepth:
		return refuse(name, "is nested deeper than %d folders", n.o.MaxDepth)
	case name == "." || !fs.ValidPath(name):
		return refuse(name, "is not a path below the folder")
	}
	for part := range strings.SplitSeq(name, "/") {
		if filename.IsGit(part) {
			return refuse(name, "is in a .git folder")
		}
		if why := filename.Unsafe(part); why != "" {
			return refuse(name, "has a part that %s", why)
		}
	}
	return nil
}
