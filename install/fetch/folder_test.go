//go:build unix

package fetch_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"SKILL.md": "a", "scripts/x.py": "x", "secret/f": "s", ".git/config": "g", "sub/.git": "gitdir: /", ".env": "K=1", "web/.ssh/id": "k"})
	for link, to := range map[string]string{"link": "SKILL.md", "out": "/etc", "scripts/self": ".", "scripts/run.py": "../secret/f", "scripts/two.py": "run.py", "scripts/git": "../.git/config", "up": "../x"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ref := source.Ref{Kind: source.Folder, URL: dir}
	s := fetchOne(t, fetch.Folder(), &install.Request{Source: ref})
	if s.Origin != (install.Origin{Source: ref, URL: dir}) {
		t.Errorf("got %+v", s.Origin)
	}
	if err := fstest.TestFS(s.FS, "SKILL.md", "scripts/x.py", "scripts/run.py"); err != nil {
		t.Error(err)
	}
	got := content(t, s.FS)
	if len(got) != 5 || got["scripts/x.py"] != "x" || got["scripts/run.py"] != "s" || got["link"] != "a" {
		t.Errorf("got %q", got)
	}
	left := s.LeftOut()
	slices.Sort(left)
	want := []string{
		".env can hold secrets", `out is a symbolic link to "/etc", an absolute path`, "pipe is not a regular file", `scripts/git is a symbolic link to "../.git/config", which does not lead through folders only`,
		`scripts/self is a symbolic link to ".", a folder`, `scripts/two.py is a symbolic link to "run.py", another link`, `up is a symbolic link to "../x", which lies outside`,
		"web/.ssh can hold secrets",
	}
	if !slices.Equal(left, want) {
		t.Errorf("left out %q", left)
	}
	for _, name := range []string{"up", "scripts/two.py", "scripts/git", "out/passwd", ".git/config", "pipe", "scripts/self/x.py", ".env", "web/.ssh/id", "../x", "/etc/passwd", "absent"} {
		if _, err := fs.ReadFile(s.FS, name); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := fs.Stat(s.FS, name); err == nil {
			t.Errorf("%s: it is described", name)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestFolderRefuses(t *testing.T) {
	for _, ref := range []source.Ref{{Kind: source.Folder, URL: "relative"}, {Kind: source.Git, URL: "/"}, {Kind: source.Folder, URL: filepath.Join(t.TempDir(), "absent")}} {
		if _, err := fetch.Folder().Fetch(t.Context(), &install.Request{Source: ref}); err == nil {
			t.Errorf("%+v: no error", ref)
		}
	}
}

// security 2.6 #109: a repository in a folder is not asked anything; git itself starts what its configuration names.
func TestFolderRunsNoGit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"SKILL.md": "a"})
	ran := filepath.Join(t.TempDir(), "ran")
	in := gittest.At(t, dir)
	in.Git("init", "--quiet")
	in.Git("config", "core.fsmonitor", "touch "+ran)
	s := fetchOne(t, fetch.Folder(), &install.Request{Source: source.Ref{Kind: source.Folder, URL: dir}})
	if got := content(t, s.FS); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program ran")
	}
	in.Git("status")
	if _, err := os.Stat(ran); err != nil {
		t.Error("control: git status did not start it, so the test proves nothing")
	}
}
