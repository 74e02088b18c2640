package runner

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/obeyed"
)

// gitFolders are patterns of the folders in .git that have settings of their own: those of submodules and of further work trees.
var gitFolders = []string{"modules/*", "modules/*/*", "modules/*/*/*", "worktrees/*"}

// keptInGit returns what decides what git runs in a folder of git, and in those of gitFolders that exist in it.
func keptInGit(git string) []string {
	dirs := []string{git}
	for _, pattern := range gitFolders {
		for _, head := range matching(git, pattern+"/HEAD") {
			dirs = append(dirs, filepath.Dir(head))
		}
	}
	var out []string
	for _, dir := range dirs {
		for _, name := range obeyed.Below(".git") {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
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
		return plainGit(at)
	case !info.Mode().IsRegular():
		return false
	}
	text, err := readSmall(at)
	to, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(at), to)
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
	common, err := readSmall(filepath.Join(to, "commondir"))
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
	if _, err := os.Lstat(filepath.Join(git, "hooks")); err == nil {
		info, err := os.Stat(filepath.Join(git, "hooks"))
		plain = err == nil && info.IsDir()
		(&lister{}).list(filepath.Join(git, "hooks"), func(name string, _ bool) { plain = plain && strings.HasSuffix(name, ".sample") })
	}
	config, err := readSmall(filepath.Join(git, "config"))
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

// plainSettings reports whether settings of git have only keys of plainSections. It reads less than git does, and what it cannot read is
// not plain.
func plainSettings(config []byte) bool {
	section := ""
	for lines := bufio.NewScanner(bytes.NewReader(config)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case strings.HasSuffix(line, `\`):
			return false
		case line[0] == '[':
			name, rest, ok := strings.Cut(line[1:], "]")
			section, _, _ = strings.Cut(strings.ToLower(name), " ")
			if !ok || rest != "" {
				return false
			}
		default:
			key, _, _ := strings.Cut(line, "=")
			if !slices.Contains(strings.Fields(plainSections[section]), strings.ToLower(strings.TrimSpace(key))) {
				return false
			}
		}
	}
	return true
}

// maxSettings is how many bytes of a file of git are read; a longer one is not plain.
const maxSettings = 64 << 10

func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSettings))
}
