package hosttool

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/tool"
)

// Request is what the user is asked to allow. Its texts come from a model and can contain anything.
type Request struct {
	Tool   string // bash, write_file or edit_file
	Path   string // the file to be written; "" for bash
	Reason string // why the file needs approval; "" for bash
	Text   string // the command, the whole new file, or the lines of a change after "- " and "+ "
}

// maxApproved is the size in bytes of the longest text that a person is asked about.
const maxApproved = 100_000

// approve returns nil if the user allows a request.
func (h *host) approve(ctx context.Context, r *Request) error {
	act := "running this command"
	if r.Path != "" {
		act = fmt.Sprintf("writing '%s'", r.Path)
	}
	switch {
	case h.o.Approve == nil && r.Path != "":
		return denied("not_approved", "'%s' was not written: %s, and nobody can be asked here; ask the user to write it", r.Path, r.Reason)
	case h.o.Approve == nil && h.o.BashCure != "":
		return denied("not_approved", "Commands are not run here: %s", h.o.BashCure)
	case h.o.Approve == nil:
		return denied("not_approved", "Commands are not run here")
	case len(r.Text) > maxApproved:
		return &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("%s needs approval, and a text of %d bytes is too long to approve; the limit is %d", act, len(r.Text), maxApproved)}
	}
	ok, err := h.o.Approve(ctx, *r)
	if err != nil {
		return denied("not_approved", "The user could not be asked to allow %s: %v", act, err)
	}
	if !ok {
		return denied("not_approved", "The user did not allow %s", act)
	}
	return nil
}

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

// approveWrite asks the user before a file is written that other programs run, or that other models read, just because
// it is there: every dot file and every file in a dot folder, except for the harmless ones, and files of instructions.
// text is what the user is shown.
func (h *host) approveWrite(ctx context.Context, p *place, name, text string) error {
	reason := unasked(p.rel)
	if reason == "" {
		return nil
	}
	return h.approve(ctx, &Request{Tool: name, Path: p.shown, Reason: reason, Text: text})
}

// unasked says why a file at this path must be approved, and returns "" if it need not be.
func unasked(rel string) string {
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
