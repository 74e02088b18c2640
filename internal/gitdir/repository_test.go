package gitdir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// Every way in which git puts a repository somewhere else is known, and nothing that a .git names is believed.
func TestOf(t *testing.T) {
	top := paths.Real(t.TempDir())
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	repo := gittest.NewIn(t, at("origin"))
	repo.Commit(map[string]string{"a": "x"})
	git := func(args ...string) {
		repo.Git(append([]string{"-C", top, "-c", "protocol.file.allow=always"}, args...)...)
	}
	git("clone", "-q", "origin", "main")
	git("-C", "main", "worktree", "add", "-q", at("side"))
	git("-C", "main", "worktree", "add", "-q", at("main/in"))
	git("clone", "-q", "--bare", "main", "bare.git")
	git("-C", "bare.git", "worktree", "add", "-q", at("ofBare"))
	git("clone", "-q", "--separate-git-dir", at("apart.git"), "main", "apart")
	git("clone", "-q", "--shared", "main", "shared")
	git("clone", "-q", "--shared", "shared", "twice")
	git("-C", "shared", "submodule", "add", "-q", at("bare.git"), "sub")
	git("clone", "-q", "--bare", "main", "layout/.bare")
	git("-C", "layout/.bare", "worktree", "add", "-q", at("layout/one"))
	links := map[string]string{"linked/.git": at("apart.git"), "stolen/.git": at("main/.git"), "round/.git": ".git"}
	for name, text := range map[string]string{
		"layout/.git": "gitdir: ./.bare\n", "etc/.git": "gitdir: /etc\n", "copy/.git": "gitdir: " + at("main/.git/worktrees/side"), "toBare/.git": "gitdir: ../bare.git",
		"toSub/.git": "gitdir: ../shared/.git/modules/sub", "noise/.git": "x", "gone/.git": "gitdir: nothing", "fake/HEAD": "x", "fake/commondir": "/etc", "toFake/.git": "gitdir: ../fake",
		"lends/.git/HEAD": "ref: x", "lends/.git/refs/x": "", "lends/.git/objects/info/alternates": "/etc\n# x\n" + at("keys/objects") + "\n", "keys/objects/id": "secret", "plain/a": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range links {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.Symlink(text, at(name))); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		tree, folders, lent string
		err                 string
	}{
		{tree: "main"}, {tree: "plain"}, {tree: "layout"},
		{tree: "side", folders: "main/.git"}, {tree: "main/in", folders: "main/.git"}, {tree: "ofBare", folders: "bare.git"}, {tree: "apart", folders: "apart.git"},
		{tree: "shared/sub", folders: "shared/.git/modules/sub"}, {tree: "layout/one", folders: "layout/.bare"}, {tree: "linked", folders: "apart.git"},
		{tree: "shared", lent: "main/.git/objects"}, {tree: "twice", lent: "shared/.git/objects main/.git/objects"}, {tree: "lends"},

		{tree: "etc", err: "it is no repository"}, {tree: "copy", err: "git worktree repair"}, {tree: "toBare", err: "no work tree of its own"},
		{tree: "toSub", err: "it is of the work tree"}, {tree: "stolen", err: "it is of the work tree"}, {tree: "noise", err: "does not name a folder"},
		{tree: "gone", err: "does not exist"}, {tree: "toFake", err: "in which it does not lie"}, {tree: "round", err: "cannot be used"},
	} {
		r, err := Of(at(tt.tree))
		var foreign *ForeignError
		if tt.err != "" {
			if r != nil || !errors.As(err, &foreign) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: got %+v, %v, want %q", tt.tree, r, err, tt.err)
			}
			continue
		}
		if r == nil {
			r = &Repository{}
		}
		for what, lists := range map[string][2][]string{"folders": {r.Folders, strings.Fields(tt.folders)}, "lent": {r.Lent, strings.Fields(tt.lent)}} {
			for i, name := range lists[1] {
				lists[1][i] = at(name)
			}
			if err != nil || !slices.Equal(lists[0], lists[1]) {
				t.Errorf("%s: %s %q, want %q, %v", tt.tree, what, lists[0], lists[1], err)
			}
		}
	}
}

// A repository of another user is not used, as git itself does not use it.
func TestForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	top := paths.Real(t.TempDir())
	repo := gittest.NewIn(t, filepath.Join(top, "main"))
	repo.Commit(map[string]string{"a": "x"})
	repo.Git("worktree", "add", "-q", filepath.Join(top, "side"))
	if err := os.Chown(filepath.Join(top, "main"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if r, err := Of(filepath.Join(top, "side")); r != nil || err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("got %+v, %v", r, err)
	}
}
