package script

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Guard says which paths in the folders of a user a confined command does not see, and which it does not change. Scripts and
// the agent's own commands have the same.
type Guard struct {
	Home    string   // the user's home, absolute; "" for none
	Private []string // absolute paths that it does not see
	Keep    []string // absolute paths that it does not change
}

// Writable returns those of some folders that a command may write: the others lie in one of Keep.
func (g *Guard) Writable(folders []string) []string {
	return slices.DeleteFunc(slices.Clone(folders), func(dir string) bool { return within(g.Keep, dir) })
}

// keptNames are the files and folders in a folder of the user's that other programs run or obey, keptAtHome those of the home.
var (
	keptNames = []string{
		".git/hooks", ".git/config", ".git/commondir", ".git/config.worktree", ".gitmodules", ".agent", ".agents", ".claude", ".codex", ".mcp.json", ".vscode", ".idea", ".envrc",
	}
	keptAtHome = []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".kshrc", ".cshrc", ".tcshrc", ".inputrc", ".gitconfig", ".ssh", ".config",
	}
)

// instructions are the files and folders with which agents and editors are steered and packages are installed, in a folder of the user's:
// other programs run what they name, and hardly anyone looks at them. Those
// that exist are kept; those that do not must not come to be. .github/workflows is not among them: it runs elsewhere, after the user
// has seen and sent it.
var instructions = []string{
	"AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", ".cursorrules", ".windsurfrules",
	".clinerules", ".cursor", ".gemini", ".opencode", "opencode.json", ".github/copilot-instructions.md", ".github/instructions", ".github/prompts",
	".github/agents", ".github/hooks", ".github/skills", ".npmrc", ".husky", ".windsurf", ".roo", ".kiro", ".junie", ".amazonq", ".zed", ".devcontainer",
	".yarnrc", ".yarnrc.yml", ".yarn/releases", ".yarn/plugins", ".pnpmfile.cjs", "bunfig.toml", ".cargo/config", ".cargo/config.toml", ".pre-commit-config.yaml",
}

// matching returns the paths below a folder that match a pattern with "/". The folder's own name is no pattern.
func matching(dir, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are fixed; what cannot be read matches nothing
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}

// Protect sets what a command does not change in folders that it may write: Keep, Absent and Missing. What the user granted by name may
// be changed.
func (g *Guard) Protect(c *Command, folders, granted []string) {
	for _, dir := range folders {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		names := keptNames
		if dir == g.Home {
			names = slices.Concat(keptNames, keptAtHome)
		}
		for _, name := range names {
			c.Keep = append(c.Keep, filepath.Join(dir, filepath.FromSlash(name)))
		}
		for _, name := range instructions {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(path); err == nil {
				c.Keep = append(c.Keep, path)
				if info.Mode()&fs.ModeSymlink != 0 {
					c.Keep = append(c.Keep, realPath(path))
				}
			} else {
				c.Absent = append(c.Absent, path)
			}
		}
		var found repositories
		found.search(dir)
		c.Keep = append(c.Keep, found.kept...)
		if missing := found.missing(dir); missing != "" {
			c.Missing = append(c.Missing, missing)
		}
		for _, path := range g.Keep {
			if path != dir && within([]string{dir}, path) {
				c.Keep = append(c.Keep, path)
			}
		}
	}
	c.Keep, c.Absent = unique(without(c.Keep, granted)), unique(without(c.Absent, granted))
	c.Write = slices.DeleteFunc(c.Write, func(path string) bool { return slices.Contains(granted, path) && c.writesAlready(path, folders) })
}

// writesAlready reports whether a command may write a file because it may write a folder above it. Such a file is no grant of its own: it
// may be missing, and a sandbox could not let the command replace it.
func (c *Command) writesAlready(path string, folders []string) bool {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return false
	}
	longest, what := -1, mayRead
	for _, list := range []struct {
		paths []string
		what  access
	}{{folders, mayWrite}, {c.Read, mayRead}, {c.Keep, mayRead}, {c.Hide, hides}} {
		for _, dir := range list.paths {
			if dir != path && len(dir) >= longest && within([]string{dir}, path) {
				longest, what = len(dir), list.what
			}
		}
	}
	return what == mayWrite
}

// privateInHome are patterns of names in the home whose files a command does not see where the home is its folder.
var privateInHome = []string{".*", "Library", "AppData"}

// Hidden returns the paths in some folders that a command does not see: those of Private, the home if a folder holds it, and
// what privateInHome matches if a folder is the home. What the user granted by name is seen.
func (g *Guard) Hidden(folders, granted []string) []string {
	var out []string
	for _, dir := range folders {
		for _, path := range g.Private {
			if within([]string{dir}, path) {
				out = append(out, path)
			}
		}
		switch {
		case g.Home == "" || slices.Contains(granted, dir):
		case dir == g.Home:
			for _, pattern := range privateInHome {
				out = append(out, matching(dir, pattern)...)
			}
		case within([]string{dir}, g.Home):
			out = append(out, g.Home)
		}
	}
	return unique(without(out, granted))
}

// within reports whether a path is one of some folders or lies below one.
func within(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// unique returns a list without repetitions, in its order.
func unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(item string) bool {
		was := seen[item]
		seen[item] = true
		return was
	})
}

// without returns the items of a list that another does not have.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return slices.Contains(other, item) })
}

// realPath returns a path without symbolic links, as far as it exists: a sandbox does not follow links. "" stays "".
func realPath(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(realPath(dir), filepath.Base(path))
}

// realPaths returns some paths without symbolic links.
func realPaths(list []string) []string {
	out := make([]string, len(list))
	for i, path := range list {
		out[i] = realPath(path)
	}
	return out
}
