package paths

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Link is a symbolic link on the way to a path.
type Link struct {
	Path string // absolute; the folder that it lies in has no links in its path
	Text string // what it says, absolute or relative
}

// MaxLinks is how many links may lie on the way to a path.
const MaxLinks = 40

// errLinks is the error for a path that leads through too many links, mostly in a circle.
var errLinks = errors.New("too many symbolic links")

// Resolve follows the symbolic links in an absolute path, as the kernel does. It returns the path without links, and each link on the
// way once, in the order in which they are met. A path that cannot be followed to its end is an error, which wraps fs.ErrNotExist if
// there is nothing. It is safe for concurrent use.
func Resolve(path string) (real string, links []Link, err error) {
	volume := filepath.VolumeName(path)
	root := volume + string(filepath.Separator)
	if !filepath.IsAbs(path) {
		return "", nil, &fs.PathError{Op: "resolve", Path: path, Err: errors.New("not an absolute path")}
	}
	rest := parts(filepath.Clean(path)[len(volume):])
	real = root
	for steps := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			real = filepath.Dir(real)
			continue
		}
		at := filepath.Join(real, name)
		info, err := os.Lstat(at)
		if err != nil {
			return "", links, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = at
			continue
		}
		if steps++; steps > MaxLinks {
			return "", links, &fs.PathError{Op: "resolve", Path: path, Err: errLinks}
		}
		text, err := os.Readlink(at)
		if err != nil {
			return "", links, err
		}
		links = addLink(links, Link{at, text})
		if filepath.IsAbs(text) {
			real = root
		}
		rest = append(parts(text[len(filepath.VolumeName(text)):]), rest...)
	}
	return real, links, nil
}

// Way is a path with what lies on the way to it.
type Way struct {
	real  string
	links []Link
}

// WayTo returns the way to an absolute path, as far as it leads, and for "" one that is in no folder.
func WayTo(path string) *Way {
	real, links, err := Resolve(path)
	if err != nil {
		real = Real(path)
	}
	return &Way{real, links}
}

// In reports whether the way ends in a folder, which has no links in its path, or goes through a link in it: whoever writes in the folder
// chooses then what the path is.
func (w *Way) In(real string) bool {
	dirs := []string{real}
	return Within(dirs, w.real) || slices.ContainsFunc(w.links, func(l Link) bool { return Within(dirs, l.Path) })
}

// Holds reports whether the way to a path is in a folder, see Way.In. The links in the path of the folder are followed.
func Holds(folder, path string) bool { return WayTo(path).In(Real(folder)) }

// parts returns the names in a path. ".." stays: what is above a link is known when it was followed.
func parts(path string) []string {
	var out []string
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if name != "" && name != "." {
			out = append(out, name)
		}
	}
	return out
}

func addLink(links []Link, l Link) []Link {
	for _, had := range links {
		if had.Path == l.Path {
			return links
		}
	}
	return append(links, l)
}

// Why says in a clause why a path cannot be used, for an error of the operating system: "does not exist".
func Why(err error) string {
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "cannot be reached by this user"
	case errors.Is(err, errLinks):
		return "leads through too many symbolic links"
	case errors.As(err, &in):
		err = in.Err
	}
	return fmt.Sprintf("cannot be used: %v", err)
}
