package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/hosts"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/skill"
)

// Unread is a folder in which another agent finds skills and this program does not.
type Unread struct {
	Dir     string   `json:"dir"`
	Skills  []string `json:"skills"`  // the names of the folders with a SKILL.md, but for those that the catalogue has by that name
	Command string   `json:"command"` // that installs them
}

// mostUnread is how many entries of each folder are looked at.
const mostUnread = 1000

// Unread returns the folders of other agents in the project and the home that have skills and are not read, those of the project
// first. Links do not count: exports are links.
func (l *Library) Unread(cat *skill.Catalog) []Unread {
	out := []Unread{}
	cfg := l.Settings.Config()
	if cfg.BundledOnly {
		return out
	}
	var read []string // folders
	for _, layer := range cfg.Layers() {
		if layer.Dir != "" {
			read = append(read, paths.Real(layer.Dir))
		}
	}
	for _, base := range []string{cfg.Paths.Project, cfg.Paths.Home} {
		for _, below := range otherFolders(base == cfg.Paths.Home) {
			dir := filepath.Join(base, filepath.FromSlash(below))
			if real := paths.Real(dir); base == "" || slices.Contains(read, real) {
				continue
			} else if names := unreadIn(dir, cat); len(names) > 0 {
				read = append(read, real)
				out = append(out, Unread{Dir: dir, Skills: names, Command: "agent skill add " + cure.Word(l.near(dir))})
			}
		}
	}
	return out
}

// otherFolders returns where other agents look below the user's home or a project, without folders of several agents: these are
// read, or people keep other things in them.
func otherFolders(home bool) []string {
	var out []string
	for _, h := range hosts.All() {
		scope := hosts.Project
		if home {
			scope = hosts.User
		}
		if dir := h.Folder(scope); strings.HasPrefix(dir, ".") {
			out = append(out, dir)
		}
	}
	return append(out, ".codex/skills") // of older versions of Codex
}

// near returns a folder as the user would type it: below the working directory, with "./".
func (l *Library) near(dir string) string {
	if rel, err := filepath.Rel(l.Sys.Dir, dir); err == nil && filepath.IsLocal(rel) {
		return "./" + filepath.ToSlash(rel)
	}
	return dir
}

// unreadIn returns the folders with a SKILL.md in a folder that are no skill of the catalogue.
func unreadIn(dir string, cat *skill.Catalog) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(mostUnread)
	var out []string
	for _, d := range list {
		if _, err := cat.Lookup(d.Name()); err == nil || !d.IsDir() {
			continue
		}
		if info, err := os.Lstat(filepath.Join(dir, d.Name(), "SKILL.md")); err == nil && info.Mode().IsRegular() {
			out = append(out, d.Name())
		}
	}
	slices.Sort(out)
	return out
}
