package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// WorkTree is a work tree whose repository is not trusted. All paths are absolute.
type WorkTree struct {
	Dir    string
	Git    string // the folder with the index
	Common string // the folder with objects and refs: Git itself, but for a linked work tree
	Head   []byte // the content of HEAD
	Config []byte // the settings that count, as git writes them; none may name a program
}

// mostStatus is how many bytes of a status are read.
const mostStatus = 1 << 20

// Status returns what differs in a work tree from what is committed: a line for each file, as git status --short has it. It looks into
// neither untracked folders nor submodules. Git sees no settings but Config, so nothing that the repository configures runs: no monitor,
// no filter, no hook. room is an empty folder, which the caller removes.
func (c *Client) Status(ctx context.Context, w *WorkTree, room string) ([]string, error) {
	if err := w.imitate(room); err != nil {
		return nil, fmt.Errorf("making a repository: %w", err)
	}
	out, _, err := c.run(ctx, &call{most: mostStatus, args: []string{"--git-dir=" + room, "--work-tree=" + w.Dir, "-C", w.Dir,
		"-c", "core.quotePath=false", "status", "--porcelain", "--no-renames", "--ignore-submodules=all"}})
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == '\n' }), nil
}

// mostNamed is how many bytes of a list of files are read.
const mostNamed = 64 << 20

// Files returns the files of a work tree in one of its folders, relative to it: those that are committed or staged and still there, and new
// ones that git does not ignore. Their names are those that git has, with any bytes. Git sees what it sees for Status.
func (c *Client) Files(ctx context.Context, w *WorkTree, folder, room string) ([]string, error) {
	if err := w.imitate(room); err != nil {
		return nil, fmt.Errorf("making a repository: %w", err)
	}
	out, _, err := c.run(ctx, &call{most: mostNamed, args: []string{"--git-dir=" + room, "--work-tree=" + w.Dir, "-C", folder,
		"ls-files", "-z", "-t", "--cached", "--others", "--deleted", "--exclude-standard"}})
	if err != nil {
		return nil, err
	}
	var names []string
	skip := map[string]bool{} // those that are listed already, and those that are gone
	entries := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for _, e := range entries {
		if gone, ok := strings.CutPrefix(e, "R "); ok {
			skip[gone] = true
		}
	}
	for _, e := range entries {
		kind, name, ok := strings.Cut(e, " ")
		if !ok || kind == "S" || skip[name] { // S: left out of the work tree
			continue
		}
		skip[name] = kind == "M" // what is not merged is listed for each side
		names = append(names, name)
	}
	return names, nil
}

// imitate makes a repository with other settings in a folder. Everything else are links.
func (w *WorkTree) imitate(room string) error {
	failed := []error{os.WriteFile(filepath.Join(room, "HEAD"), w.Head, 0o600), os.WriteFile(filepath.Join(room, "config"), w.Config, 0o600)}
	for name, from := range map[string]string{"index": w.Git, "objects": w.Common, "refs": w.Common, "packed-refs": w.Common, "reftable": w.Common, "info": w.Common} {
		at := filepath.Join(from, name)
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, os.Symlink(at, filepath.Join(room, name)))
		}
	}
	return errors.Join(failed...)
}
