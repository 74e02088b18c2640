// Package untidy makes a machine as people have it: a home that is a link, programs below the link of a profile, a project below a link whose
// repository lies elsewhere, settings of git that are a link and include others, and files that tools left. What works in a fresh folder
// has to work there, too. It is for tests only.
package untidy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Machine is an untidy machine around a folder for work.
type Machine struct {
	Work string // the folder, below a link
	Home string // a link to a folder elsewhere
	Bin  string // a folder of programs, for PATH, below the link of a profile

	real  string // the folder, as it was given
	store string // what lies elsewhere
	trees int    // work trees that were made
}

// Tool is a program in Machine.Bin: a link to a file in a package of its own, which reads another one there. It prints ToolText.
const (
	Tool     = "untidy-tool"
	ToolText = "from the package"
)

// Make makes an untidy machine around a folder, in which home becomes or is the home. What was in it stays where it was. It makes further
// folders beside it, whose names begin with its name. dir is absolute and has no links.
func Make(dir string) (*Machine, error) {
	m := &Machine{Work: dir + ".link", Home: filepath.Join(dir+".link", "home"), real: dir, store: dir + ".elsewhere"}
	m.Bin = filepath.Join(m.store, "profile", "bin")
	for _, step := range []func() error{m.home, m.profile, m.git, m.leftovers, m.workTrees} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, os.Symlink(dir, m.Work)
}

// home moves the home and puts a link in its place.
func (m *Machine) home() error {
	at, to := filepath.Join(m.real, "home"), filepath.Join(m.store, "var", "home")
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Rename(at, to); errors.Is(err, fs.ErrNotExist) {
		err = os.Mkdir(to, 0o755)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return os.Symlink(to, at)
}

// profile makes programs as package managers do: a generation below a link, and in it links to packages.
func (m *Machine) profile() error {
	tool := "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")/../share/text\"\n"
	return errors.Join(
		m.write("packages/tool-1/bin/"+Tool, tool, 0o755), m.write("packages/tool-1/share/text", ToolText+"\n", 0o644),
		os.MkdirAll(filepath.Join(m.store, "generation-2", "bin"), 0o755),
		os.Symlink("generation-2", filepath.Join(m.store, "profile")),
		os.Symlink("../../packages/tool-1/bin/"+Tool, filepath.Join(m.store, "generation-2", "bin", Tool)))
}

// git gives the user settings of git: a link, with what it includes.
func (m *Machine) git() error {
	home := filepath.Join(m.store, "var", "home")
	if _, err := os.Lstat(filepath.Join(home, ".gitconfig")); err == nil {
		return nil // the test has some
	}
	return errors.Join(
		m.write("var/home/.dots/gitconfig", "[include]\n\tpath = ~/.dots/who\n[init]\n\tdefaultBranch = main\n", 0o644),
		m.write("var/home/.dots/who", "[user]\n\tname = Untidy\n\temail = untidy@example.com\n", 0o644),
		os.Symlink(".dots/gitconfig", filepath.Join(home, ".gitconfig")))
}

// leftovers puts files there that systems, editors and interpreters leave.
func (m *Machine) leftovers() error {
	var failed []error
	for _, name := range []string{"home/.DS_Store", ".DS_Store", "notes.txt~"} {
		failed = append(failed, os.WriteFile(filepath.Join(m.real, filepath.FromSlash(name)), []byte("left"), 0o644))
	}
	return errors.Join(failed...)
}

// workTrees makes a linked work tree of each folder with an empty repository: one in whose .git is no other file than HEAD.
func (m *Machine) workTrees() error {
	return filepath.WalkDir(m.real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() != ".git" {
			return err
		}
		list, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, in := range list {
			if in.Name() != "HEAD" {
				return fs.SkipDir
			}
		}
		if err := m.WorkTree(filepath.Dir(path)); err != nil {
			return err
		}
		return fs.SkipDir
	})
}

// WorkTree makes a folder the linked work tree of an empty repository elsewhere. A .git that it has is removed.
func (m *Machine) WorkTree(dir string) error {
	m.trees++
	main := "main-" + strconv.Itoa(m.trees)
	at := filepath.Join(m.store, main, ".git", "worktrees", "tree")
	return errors.Join(
		m.write(main+"/.git/HEAD", "ref: refs/heads/main\n", 0o644),
		m.write(main+"/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n", 0o644),
		os.MkdirAll(filepath.Join(m.store, main, ".git", "objects", "info"), 0o755),
		os.MkdirAll(filepath.Join(m.store, main, ".git", "refs", "heads"), 0o755),
		m.write(main+"/.git/worktrees/tree/HEAD", "ref: refs/heads/tree\n", 0o644),
		m.write(main+"/.git/worktrees/tree/commondir", "../..\n", 0o644),
		m.write(main+"/.git/worktrees/tree/gitdir", filepath.Join(dir, ".git")+"\n", 0o644),
		os.RemoveAll(filepath.Join(dir, ".git")),
		os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+at+"\n"), 0o644))
}

// write makes a file elsewhere.
func (m *Machine) write(name, text string, mode fs.FileMode) error {
	path := filepath.Join(m.store, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}
