package runner

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/listing"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/internal/paths"
)

// gitFolders are patterns of the folders in .git that have settings of their own: those of submodules and of further work trees.
var gitFolders = []string{"modules/*", "modules/*/*", "modules/*/*/*", "worktrees/*"}

// keptInGit returns what decides what git runs and reads in a folder of git, and in those of gitFolders that exist in it. What lies in a
// folder that is not there does not come to be.
func keptInGit(git string) (keep, absent []string) {
	dirs := []string{git}
	for _, pattern := range gitFolders {
		for _, head := range matching(git, pattern+"/HEAD") {
			dirs = append(dirs, filepath.Dir(head))
		}
	}
	for _, dir := range dirs {
		for _, name := range obeyed.Below(".git") {
			at := filepath.Join(dir, filepath.FromSlash(name))
			if _, err := os.Stat(filepath.Dir(at)); err == nil || path.Dir(name) == "." {
				keep = append(keep, at)
			} else {
				absent = append(absent, at)
			}
		}
	}
	return keep, absent
}

// plainRepository reports whether a new repository runs nothing: it is as git itself makes one. rel is a folder of git, or a file that
// names one.
func (s *Seen) plainRepository(rel string) bool {
	if name := path.Base(rel); filename.IsRepository(name) && name != ".git" {
		return false
	}
	at := s.abs(rel)
	info, err := os.Lstat(at)
	switch {
	case err != nil:
		return false
	case info.IsDir():
		return plainGit(at) && s.borrowsHere(at)
	case !info.Mode().IsRegular():
		return false
	}
	to, err := gitdir.Pointed(at)
	if err != nil {
		return false
	}
	return s.ofRepository(to)
}

// ofRepository reports whether a folder of git belongs to a repository that was there before, as one of its work trees or as a
// plain submodule.
func (s *Seen) ofRepository(to string) bool {
	rel, err := filepath.Rel(s.Dir, to)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	rel = filepath.ToSlash(rel)
	git, below, found := strings.Cut(rel, ".git/")
	git += ".git"
	if !found || !s.had[git] {
		return false
	}
	if kind, _, _ := strings.Cut(below, "/"); kind == "modules" {
		return plainGit(to)
	}
	common, err := gitdir.Read(filepath.Join(to, "commondir"))
	_, other := os.Lstat(filepath.Join(to, "config.worktree"))
	return err == nil && os.IsNotExist(other) && filepath.Join(to, strings.TrimSpace(string(common))) == s.abs(git)
}

// plainGit reports whether a folder of git has only samples of hooks, and only settings that run nothing and lead nowhere.
func plainGit(git string) bool {
	for _, name := range []string{"commondir", "config.worktree"} {
		if _, err := os.Lstat(filepath.Join(git, name)); err == nil {
			return false
		}
	}
	plain := true
	err := (&listing.Lister{}).List(filepath.Join(git, "hooks"), func(name string, _ fs.FileMode) bool {
		plain = strings.HasSuffix(name, ".sample")
		return plain
	})
	if err != nil && !os.IsNotExist(err) { // also a link
		return false
	}
	config, err := gitdir.Read(filepath.Join(git, "config"))
	return plain && (err == nil && plainSettings(config) || os.IsNotExist(err))
}

// plainSections has the sections of git's settings that run nothing, with their keys. All others count as dangerous.
var plainSections = map[string]string{
	"core":       "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks worktree",
	"extensions": "objectformat refstorage",
	"remote":     "url fetch",
	"branch":     "remote merge rebase",
	"user":       "name email",
	"init":       "defaultbranch",
	"submodule":  "url active",
}

// plainSettings reports whether settings of git have only keys of plainSections. What cannot be read is not plain.
func plainSettings(config []byte) bool {
	list, err := gitdir.Settings(config)
	return err == nil && !slices.ContainsFunc(list, func(s gitdir.Setting) bool {
		return !slices.Contains(strings.Fields(plainSections[s.Section]), s.Key)
	})
}

// borrowsHere reports whether a new repository reads only objects of repositories in the same folder.
func (s *Seen) borrowsHere(git string) bool {
	return !slices.ContainsFunc(gitdir.Alternates(filepath.Join(git, "objects")), func(dir string) bool { return !paths.WithinReal(s.Dir, dir) })
}

// repositories returns the folders of git outside of some folders in which a command works, which it needs to use git there. Those that
// it reads are told from those that it writes.
func repositories(at *resolver, folders, writable []string) (read, write []string) {
	for _, dir := range folders {
		r, err := gitdir.Of(dir)
		if err != nil {
			at.missing = append(at.missing, "git: "+err.Error())
		}
		if r == nil {
			continue
		}
		read = append(read, r.Lent...)
		for _, git := range r.Folders {
			switch why := at.guarded(git); {
			case why != "":
				at.leaveOut("git", git, "is not read: "+why)
			case slices.Contains(writable, dir):
				write = append(write, git)
			default:
				read = append(read, git)
			}
		}
	}
	return read, write
}
