package hosttool

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// repositories are the folders of version control systems. Their settings run commands and can hold passwords.
var repositories = []string{".git", ".hg", ".jj", ".svn", ".bzr", ".sl"}

// harmless are the dot names that are written without approval: no program runs what they say, and no model reads it.
// .github has its own rule.
var harmless = []string{
	".github", ".gitignore", ".gitattributes", ".gitkeep", ".keep", ".mailmap", ".editorconfig", ".nojekyll",
	".dockerignore", ".npmignore", ".eslintignore", ".prettierignore", ".stylelintignore", ".helmignore", ".gcloudignore",
	".python-version", ".node-version", ".nvmrc", ".ruby-version", ".browserslistrc", ".clang-format", ".rustfmt.toml",
	".env.example", ".env.sample", ".env.template",
}

// instructions are the files that coding agents read as instructions or as settings, in any folder.
var instructions = []string{
	"agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md", "crush.md",
	"warp.md", "iflow.md", "copilot-instructions.md", "opencode.json", "opencode.jsonc", "crush.json",
}

// githubInstructions are the folders of .github that agents read.
var githubInstructions = []string{"instructions", "prompts", "agents", "chatmodes", "skills", "hooks"}

// special says why each change of the file at this path is asked about: other programs run it, or other models read it,
// just because it is there. These are all dot files and all files in dot folders, except for the harmless ones, and files
// of instructions. For other files it returns "".
func special(rel string) string {
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		name := plainName(part)
		switch {
		case slices.Contains(instructions, name):
			return fmt.Sprintf("agents follow %s without asking", part)
		case isShort(name):
			return fmt.Sprintf("%s can be the short name of a hidden file", part)
		case name == ".github" && i+1 < len(parts) && slices.Contains(githubInstructions, plainName(parts[i+1])):
			return fmt.Sprintf("agents follow .github/%s without asking", parts[i+1])
		case strings.HasPrefix(name, ".") && !slices.Contains(harmless, name):
			return fmt.Sprintf("programs can read %s without asking", part)
		}
	}
	return ""
}

// isShort reports whether Windows could make a name out of a longer one, as CLAUDE~1 out of .claude.
func isShort(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem, number, ok := strings.Cut(stem, "~")
	return ok && len(stem) <= 6 && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}

// plainName returns a name as the least exact file system reads it: in lower case, without the dots and spaces at its end
// and without invisible characters.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	return strings.ToLower(strings.TrimRight(name, ". "))
}

// isRepository reports whether some file system takes the name for the folder of a version control system.
func isRepository(name string) bool {
	name = plainName(name)
	if long, ok := strings.CutSuffix(name, "~1"); ok {
		name = "." + long
	}
	return slices.Contains(repositories, name)
}

// inRepository reports whether a path leads into the folder of a version control system.
func inRepository(rel string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(rel), "/"), isRepository)
}

// refuseRead refuses the files of version control: the addresses of a repository can hold a password.
func (p *place) refuseRead() error {
	bare := plainName(path.Base(p.rel)) == "config" && p.repository(path.Dir(p.rel), "")
	if bare || inRepository(p.rel) {
		return denied("blocked", "'%s' belongs to version control and is not read, because it can hold passwords: use the commands of git", p.shown)
	}
	return nil
}

// refuseRepository refuses to write in the folder of a version control system, and to make or change a git repository
// that is not in such a folder.
func (p *place) refuseRepository() error {
	if inRepository(p.rel) || isRepository(path.Base(p.rel)) { // a file .git names the folder of the repository
		return denied("read_only", "'%s' belongs to version control, which alone writes it", p.shown)
	}
	for at := p.rel; at != "."; at = path.Dir(at) {
		if p.repository(path.Dir(at), path.Base(at)) {
			return denied("read_only", "'%s': its folder is, or would become, a git repository, whose settings run commands: "+
				"ask the user to write it, or to approve a command of bash", p.shown)
		}
	}
	return nil
}

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

// refuseSkillRoots refuses to write in the folders where skills are found. If the workspace lies in such a folder, only
// a SKILL.md is refused.
func (p *place) refuseSkillRoots(roots []string) error {
	manifest := plainName(path.Base(p.rel)) == "skill.md"
	for _, dir := range roots {
		if (manifest || !within(p.dir, dir)) && within(p.abs(), dir) {
			return denied("read_only", "'%s' lies in %q, where skills are found: ask the user to write it, or to approve a command of bash", p.shown, dir)
		}
	}
	return nil
}
