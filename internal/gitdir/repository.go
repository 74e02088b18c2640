package gitdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
)

// Repository is the repository of a work tree. Paths are absolute and without links.
type Repository struct {
	Git    string // the folder with HEAD and the index
	Common string // the folder with objects and refs: Git itself, but for a linked work tree

	// Folders has the folders of git that lie outside of the work tree, none for an ordinary repository: those of a linked work tree and the
	// repository that it is of, of a submodule, or of a repository that was made with --separate-git-dir.
	Folders []string

	Lent []string // folders of objects that it reads in other repositories, as after clone --shared; outside of the work tree
}

// ForeignError says why what a work tree names is not taken for its repository.
type ForeignError struct {
	Path string // what is named
	Why  string // a clause: "it is no repository"
}

// Error says what is not used, and why.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is not used as a repository: %s", e.Path, e.Why)
}

// Of returns the repository whose work tree a folder is, nil if there is none. workTree is absolute and has no links.
//
// A file .git says where the repository is, and could name any folder. So it has to be a repository of this user that says the same, or at
// least nothing else; if it is not, the error is a *ForeignError.
func Of(workTree string) (*Repository, error) {
	dot := filepath.Join(workTree, ".git")
	if _, err := os.Lstat(dot); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	named, err := Pointed(dot)
	if err != nil {
		return nil, err
	}
	git, _, err := paths.Resolve(named)
	if err != nil {
		return nil, &ForeignError{named, "it " + paths.Why(err)}
	}
	common, err := commonOf(git)
	if err != nil {
		return nil, err
	}
	outside := !paths.Within([]string{workTree}, git) || !paths.Within([]string{workTree}, common)
	r := &Repository{Git: git, Common: common, Lent: lent(common, workTree)}
	if !outside {
		return r, nil
	}
	if why := unfit(git, common); why != "" {
		return nil, &ForeignError{git, why}
	}
	if why := elsewhere(git, common, workTree); why != "" {
		return nil, &ForeignError{git, why}
	}
	if r.Folders = []string{git}; !paths.Within([]string{common}, git) {
		r.Folders = append(r.Folders, common)
	} else {
		r.Folders[0] = common
	}
	return r, nil
}

// Pointed returns the folder that a .git is, or names. The error is a *ForeignError.
func Pointed(dot string) (string, error) {
	info, err := os.Stat(dot)
	switch {
	case err != nil:
		return "", &ForeignError{dot, "it " + paths.Why(err)}
	case info.IsDir():
		return dot, nil
	}
	text, err := Read(dot)
	to, found := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !found || to == "" {
		return "", &ForeignError{dot, "it does not name a folder"}
	}
	return from(filepath.Dir(dot), to), nil
}

// from returns a path that is written in a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// linkedIn is the folder in a repository that has a folder for each of its linked work trees.
const linkedIn = "worktrees"

// commonOf returns the folder that a folder of git shares with other work trees, or the folder itself if it shares nothing.
func commonOf(git string) (string, error) {
	text, err := Read(filepath.Join(git, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return git, nil
	}
	above := filepath.Dir(filepath.Dir(git))
	named := from(git, strings.TrimSpace(string(text)))
	if err != nil || filepath.Base(filepath.Dir(git)) != linkedIn || paths.Real(named) != above {
		return "", &ForeignError{git, "it belongs to a repository in which it does not lie"}
	}
	return above, nil
}

// unfit says why folders outside of a work tree are no repository of this user; "" if they are one.
func unfit(git, common string) string {
	foreign := false
	for _, path := range []string{common, git, filepath.Join(git, "HEAD"), filepath.Join(common, "objects"), filepath.Join(common, "refs")} {
		info, err := os.Stat(path)
		if err != nil || info.IsDir() == (filepath.Base(path) == "HEAD") {
			return "it is no repository"
		}
		foreign = foreign || !owned(info)
	}
	if foreign {
		return "it belongs to another user"
	}
	return ""
}

// elsewhere says which other work tree a repository belongs to; "" for none.
func elsewhere(git, common, workTree string) string {
	if git != common {
		text, err := Read(filepath.Join(git, "gitdir"))
		if back := from(git, strings.TrimSpace(string(text))); err != nil || paths.Real(filepath.Dir(back)) != workTree {
			return fmt.Sprintf("it is of the work tree %q; git worktree repair mends that", filepath.Dir(back))
		}
		return ""
	}
	text, err := Read(filepath.Join(git, "config"))
	list, bad := Settings(text)
	if err != nil || bad != nil {
		return "its settings cannot be read"
	}
	tree := Last(list, "core.worktree")
	switch {
	case tree == "" && Last(list, "core.bare") == "true":
		return "it has no work tree of its own"
	case tree != "" && paths.Real(from(git, tree)) != workTree:
		return fmt.Sprintf("it is of the work tree %q", from(git, tree))
	case tree == "" && filepath.Base(git) == ".git":
		return fmt.Sprintf("it is of the work tree %q", filepath.Dir(git))
	}
	return ""
}

// Bounds of what a repository borrows: git follows as many steps.
const (
	mostLent    = 16
	deepestLent = 5
)

// lent returns the folders of objects outside of a work tree that a repository reads, as far as they are such folders.
func lent(git, workTree string) []string {
	var out []string
	level := []string{filepath.Join(git, "objects")}
	for depth := 0; depth < deepestLent && len(level) > 0; depth++ {
		var next []string
		for _, objects := range level {
			for _, to := range Alternates(objects) {
				real, _, err := paths.Resolve(to)
				if err != nil || !isObjects(real) || paths.Within(out, real) || len(out) == mostLent {
					continue
				}
				if next = append(next, real); !paths.Within([]string{workTree}, real) {
					out = append(out, real)
				}
			}
		}
		level = next
	}
	return out
}

// Alternates returns the folders of objects that a folder of objects names as further ones.
func Alternates(objects string) []string {
	text, err := Read(filepath.Join(objects, "info", "alternates"))
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, from(objects, line))
		}
	}
	return out
}

// isObjects reports whether a folder has the objects of a repository.
func isObjects(dir string) bool {
	for _, name := range []string{"info", "pack", "../refs", "../HEAD"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	return filepath.Base(dir) == "objects"
}
