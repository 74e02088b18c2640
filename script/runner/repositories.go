package runner

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Limits of the search for repositories below a folder that a command may write.
const (
	mostSearched    = 2000 // folders
	deepestSearched = 12
)

// notSearched are the names of folders in which no repository of the user's is looked for: they hold packages, and many files.
var notSearched = []string{".git", "node_modules", ".venv", "venv", "__pycache__", "site-packages"}

// gitFolders are patterns of the folders in .git that have settings of their own: those of submodules and of further work trees.
var gitFolders = []string{"modules/*", "modules/*/*", "modules/*/*/*", "worktrees/*"}

// gitKept are the files and folders in a folder of git that decide what git runs.
var gitKept = []string{"hooks", "config", "commondir", "config.worktree"}

// repositories is a search for the repositories of git below a folder. Those of the folder itself are not among what it finds, except
// for what is in its .git.
type repositories struct {
	kept    []string // what decides what git runs in them
	skipped int      // folders that were not searched
}

// search looks for repositories, in the nearest folders first.
func (r *repositories) search(dir string) {
	r.kept = append(r.kept, keptInGit(filepath.Join(dir, ".git"))...)
	level, read := []string{dir}, 0
	for depth := 0; len(level) > 0; depth++ {
		var next []string
		for _, at := range level {
			if read++; read > mostSearched || depth > deepestSearched {
				r.skipped++
				continue
			}
			next = append(next, r.look(at, at == dir)...)
		}
		level = next
	}
}

// look reads one folder and returns those in it that are to be searched.
func (r *repositories) look(dir string, top bool) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	has := func(name string) bool {
		_, found := slices.BinarySearchFunc(list, name, func(d os.DirEntry, name string) int { return cmp.Compare(d.Name(), name) })
		return found
	}
	if has("HEAD") && has("objects") && has("refs") { // it is a repository without a work tree
		r.add(dir)
		return nil
	}
	if has(".git") && !top {
		r.add(filepath.Join(dir, ".git"))
	}
	var below []string
	for _, d := range list {
		if d.IsDir() && !slices.Contains(notSearched, d.Name()) {
			below = append(below, filepath.Join(dir, d.Name()))
		}
	}
	return below
}

// add adds a folder of git, or a file that names one.
func (r *repositories) add(git string) {
	for _, name := range gitKept {
		r.kept = append(r.kept, filepath.Join(git, name))
	}
	r.kept = append(r.kept, keptInGit(git)...)
}

// missing says what was not searched, "" for nothing.
func (r *repositories) missing(dir string) string {
	if r.skipped == 0 {
		return ""
	}
	return fmt.Sprintf("keep: repositories of git in %d folders below %s were not looked for", r.skipped, dir)
}

// keptInGit returns the paths to keep in the folders of gitFolders that exist in a folder of git.
func keptInGit(git string) []string {
	var out []string
	for _, pattern := range gitFolders {
		for _, head := range matching(git, pattern+"/HEAD") {
			for _, name := range gitKept {
				out = append(out, filepath.Join(filepath.Dir(head), name))
			}
		}
	}
	return out
}
