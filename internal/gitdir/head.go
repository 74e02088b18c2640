package gitdir

import (
	"path/filepath"
	"slices"
	"strings"
)

// Head returns the content of HEAD, and the branch that it names, "" for none. The content is nil if it cannot be read.
func (r *Repository) Head() (text []byte, branch string) {
	text, err := Read(filepath.Join(r.Git, "HEAD"))
	if err != nil {
		return nil, ""
	}
	branch, found := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if !found || branch == ".invalid" { // it stands in HEAD where another file has the refs
		return text, ""
	}
	return text, branch
}

// plain are the settings of a repository that say how its files are to be compared, and run nothing. Their values are single words.
var plain = []string{"core.repositoryformatversion", "core.filemode", "core.ignorecase", "core.symlinks", "core.autocrlf", "core.eol", "core.precomposeunicode",
	"extensions.objectformat", "extensions.refstorage"}

// users are the same of a user.
var users = []string{"core.autocrlf", "core.eol", "core.excludesfile"}

// Plain returns the settings by which git compares the files of a work tree, as git writes them: those of the user, as Carry returns them
// in .gitconfig, and those of the repository that name no file and no program.
func (r *Repository) Plain(user []byte) []byte {
	var out []Setting
	add := func(text []byte, names []string, words bool) {
		list, _ := Settings(text)
		for _, s := range list {
			if s.Sub == "" && slices.Contains(names, s.Name()) && (!words || s.Bare || word(s.Value)) {
				out = append(out, s)
			}
		}
	}
	add(user, users, false)
	own, _ := Read(filepath.Join(r.Common, "config"))
	add(own, plain, true)
	return Text(out)
}

// word reports whether a value is a short word.
func word(value string) bool {
	return len(value) <= len("reftable") && strings.Trim(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}
