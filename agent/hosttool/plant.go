package hosttool

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// planted are the names of files and folders that other programs run, or tell a model, for nothing more than that they
// are there: whoever opens the folder, enters it or commits in it is not asked (security 1.2).
var planted = []string{
	".agent", ".agents", ".claude", ".codex", ".mcp.json", ".vscode", ".idea",
	".gitmodules", ".gitconfig", ".githooks", ".husky", ".envrc",
	".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".zshenv", ".zshrc", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout",
}

// refusePlant keeps a file from being written where it would run or speak later without a question: under a name of
// planted, as a part of a git repository without .git, and where skills are found.
func (p *place) refusePlant(roots []string) error {
	const cure = "let the user write it, or use a command of bash that the user approves"
	for at := p.rel; at != "."; at = path.Dir(at) {
		if name := plainName(path.Base(at)); slices.Contains(planted, name) {
			return denied("read_only", "'%s': what is called %s runs or speaks without being asked about: %s", p.shown, name, cure)
		}
		if p.repository(path.Dir(at), path.Base(at)) {
			return denied("read_only", "'%s': its folder is, or becomes, a git repository, whose config runs commands: %s", p.shown, cure)
		}
	}
	for _, dir := range roots {
		manifest := strings.EqualFold(plainName(path.Base(p.rel)), "skill.md")
		if (manifest || !within(p.dir, dir)) && within(p.abs(), dir) {
			return denied("read_only", "'%s' lies in %q, where skills are found: %s", p.shown, dir, cure)
		}
	}
	return nil
}

// plainName is a name as the file system with the fewest distinctions takes it.
func plainName(name string) string { return strings.ToLower(strings.TrimRight(name, ". ")) }

// repository reports whether git takes the folder dir for a repository once it has the entry made: HEAD with objects and
// refs, or with a file that says where those are.
func (p *place) repository(dir, made string) bool {
	has := func(name string) bool {
		if plainName(made) == strings.ToLower(name) {
			return true
		}
		_, err := p.root.Lstat(filepath.FromSlash(path.Join(dir, name)))
		return err == nil
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}
