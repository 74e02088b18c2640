package hosttool

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/obeyed"
)

// special says why each change of the file at this path is asked about: other programs run it, or other models follow it, just because
// it is there. For other files it returns "".
func special(rel string) string {
	if f, ok := obeyed.Find(rel); ok {
		return f.Reason()
	}
	return ""
}

// inRepository reports whether a path leads into the folder of a version control system.
func inRepository(rel string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(rel), "/"), filename.IsRepository)
}

// refuseRead refuses the files of version control: the addresses of a repository can hold a password.
func (p *place) refuseRead() error {
	bare := filename.Plain(path.Base(p.rel)) == "config" && p.repository(path.Dir(p.rel), "")
	if bare || inRepository(p.rel) {
		return denied("blocked", "'%s' belongs to version control and is not read, because it can hold passwords: use the commands of git", p.shown)
	}
	return nil
}

// refuseRepository refuses to write in the folder of a version control system, and to make or change a git repository
// that is not in such a folder.
func (p *place) refuseRepository() error {
	if inRepository(p.rel) || filename.IsRepository(path.Base(p.rel)) { // a file .git names the folder of the repository
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
		if filename.Plain(made) == strings.ToLower(name) {
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
	manifest := filename.Plain(path.Base(p.rel)) == "skill.md"
	for _, dir := range roots {
		if (manifest || !within(p.dir, dir)) && within(p.abs(), dir) {
			return denied("read_only", "'%s' lies in %q, where skills are found: ask the user to write it, or to approve a command of bash", p.shown, dir)
		}
	}
	return nil
}
