package fetch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// gitFetcher returns a fetcher that may read repositories of this machine.
func gitFetcher(t testing.TB) install.Fetcher {
	t.Helper()
	return fetch.Git(fetch.Hurried(&fetch.GitOptions{
		Path: []string{filepath.Dir(gittest.Program(t)), "/usr/bin", "/bin"}, Env: []string{"HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}, AllowFile: true,
	}))
}

func fetchOne(t testing.TB, f install.Fetcher, r *install.Request) *install.Snapshot {
	t.Helper()
	r.Dir = t.TempDir()
	s, err := f.Fetch(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// content returns the files of a file system by path.
func content(t testing.TB, fsys fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, p)
		out[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGit(t *testing.T) {
	repo := gittest.New(t)
	files := map[string]string{"skills/a/SKILL.md": "a", "skills/b/SKILL.md": "b", "skills/b/run.sh": "#!/bin/sh\n"}
	one := repo.Commit(files)
	repo.Git("tag", "v1")
	two := repo.Commit(map[string]string{"skills/a/SKILL.md": "a2"})
	f := gitFetcher(t)
	ref := func(want, kind string) source.Ref {
		return source.Ref{Kind: source.Git, URL: repo.URL(), Want: want, Type: kind}
	}
	for _, tt := range []struct {
		ref         source.Ref
		commit      string
		branch, tag string
		pinned      bool
	}{
		{ref("", ""), two, "main", "", false},
		{ref("main", "branch"), two, "main", "", false},
		{ref("v1", ""), one, "", "v1", true},
		{ref("v1", "tag"), one, "", "v1", true},
		{ref(one, ""), one, "", "", true},
		{ref(two[:10], "commit"), two, "", "", true},
	} {
		s := fetchOne(t, f, &install.Request{Source: tt.ref})
		want := install.Origin{Source: tt.ref, URL: repo.URL(), Commit: tt.commit, Branch: tt.branch, Tag: tt.tag, Pinned: tt.pinned}
		if s.Origin != want {
			t.Errorf("%+v: got %+v", tt.ref, s.Origin)
		}
	}
	if _, err := f.Fetch(t.Context(), &install.Request{Source: ref("none", ""), Dir: t.TempDir()}); !errors.Is(err, install.ErrNoVersion) {
		t.Errorf("got %v", err)
	}
	s := fetchOne(t, f, &install.Request{Source: ref("v1", "")})
	if err := s.Need(t.Context(), func(p string) bool { return strings.HasPrefix(p, "skills/b/") }); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s.FS); len(got) != 3 || got["skills/b/run.sh"] != files["skills/b/run.sh"] {
		t.Errorf("got %q", got)
	}
}

// Without options there is a fetcher, and no repository of this machine.
func TestGitWithoutOptions(t *testing.T) {
	ref := source.Ref{Kind: source.Git, URL: "file:///srv/x"}
	if s, err := fetch.Git(nil).Fetch(t.Context(), &install.Request{Source: ref, Dir: t.TempDir()}); err == nil {
		t.Errorf("got %+v", s)
	}
}

// A check for something new is one question to the server.
func TestGitKnown(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(map[string]string{"SKILL.md": "a"})
	r := &install.Request{Source: source.Ref{Kind: source.Git, URL: repo.URL()}, Known: id}
	s := fetchOne(t, gitFetcher(t), r)
	if s.FS != nil || s.Origin.Commit != id {
		t.Errorf("got %+v", s)
	}
	if list, err := os.ReadDir(r.Dir); err != nil || len(list) != 0 {
		t.Errorf("it wrote %v, %v", list, err)
	}
}

func TestGitLeftOut(t *testing.T) {
	repo := gittest.New(t)
	target := repo.GitWith("SKILL.md", "hash-object", "-w", "--stdin")
	repo.CommitTree(gittest.Entry{Mode: "100755", Name: "SKILL.md"}, gittest.Entry{Mode: "120000", Name: "link"}, gittest.Entry{Mode: "120000", Name: "to", ID: target})
	s := fetchOne(t, gitFetcher(t), &install.Request{Source: source.Ref{Kind: source.Git, URL: repo.URL()}})
	if got := s.LeftOut(); !slices.Equal(got, []string{"link is a symbolic link", "to is a symbolic link"}) {
		t.Errorf("got %q", got)
	}
	if err := s.Need(t.Context(), func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := s.LeftOut(); !slices.Equal(got, []string{`link is a symbolic link to "content", which is not there`}) {
		t.Errorf("got %q", got)
	}
	info, err := fs.Stat(s.FS, "to")
	if err != nil || info.Mode() != 0o755 || info.Name() != "to" || content(t, s.FS)["to"] != "content" {
		t.Errorf("the copy: %v, %v", info, err)
	}
}

// security 2.6 #93, security 2.6 #112: a repository of this machine needs a person; a git in a folder that does not count is none.
func TestGitRefuses(t *testing.T) {
	repo := gittest.New(t)
	repo.Commit(map[string]string{"SKILL.md": "a"})
	o := fetch.GitOptions{Path: []string{filepath.Dir(gittest.Program(t))}}
	r := &install.Request{Source: source.Ref{Kind: source.Git, URL: repo.URL()}, Dir: t.TempDir()}
	if _, err := fetch.Git(&o).Fetch(t.Context(), r); !errors.Is(err, git.ErrURL) {
		t.Errorf("got %v", err)
	}
	o.Path = []string{t.TempDir()}
	if _, err := fetch.Git(&o).Fetch(t.Context(), r); !errors.Is(err, git.ErrMissing) || !strings.Contains(err.Error(), "install git 2.32 or newer") {
		t.Errorf("got %v", err)
	}
	r.Source.Kind = source.Archive
	if _, err := gitFetcher(t).Fetch(t.Context(), r); err == nil {
		t.Error("another kind: no error")
	}
}
