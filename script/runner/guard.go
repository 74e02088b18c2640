package runner

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/paths"
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
	return slices.DeleteFunc(slices.Clone(folders), func(dir string) bool { return paths.Within(g.Keep, dir) })
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
					c.Keep = append(c.Keep, paths.Real(path))
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
			if path != dir && paths.Within([]string{dir}, path) {
				c.Keep = append(c.Keep, path)
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

// IsInstruction reports whether a path ends with one of instructions: a user may let a script write such a file.
func IsInstruction(path string) bool {
	return slices.ContainsFunc(instructions, func(name string) bool {
		return strings.HasSuffix(filepath.ToSlash(path), "/"+name)
	})
}
