package git_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// newClient returns a client with a home of its own. change may be nil.
func newClient(t testing.TB, change func(*git.Options)) *git.Client {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	o := &git.Options{
		Program: gittest.Program(t), Path: filepath.SplitList(os.Getenv("PATH")), Env: []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"},
		Sleep: func(context.Context, time.Duration) error { return nil },
	}
	if change != nil {
		change(o)
	}
	c, err := git.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func everything(string) bool { return true }

// fetched gets a commit with the contents that are wanted.
func fetched(t testing.TB, c *git.Client, url, commit string, want func(string) bool) *git.Repository {
	t.Helper()
	r, err := c.Fetch(t.Context(), &git.FetchOptions{URL: url, Commit: commit, Dir: t.TempDir(), Want: want, AllowFile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

var someFiles = map[string]string{
	"README.md": "hello\n", "skills/a/SKILL.md": "a\n", "skills/a/scripts/run.py": "#!/usr/bin/env python3\n", "skills/b/SKILL.md": "b\n",
	"skills/b/data.bin": "\x00\x01\xff", "skills/a/empty": "", "with space/é.md": "x",
}

func TestFetch(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(someFiles)
	for _, filter := range []string{"true", "false"} {
		repo.Git("config", "uploadpack.allowFilter", filter)
		r := fetched(t, newClient(t, nil), repo.URL(), id, nil)
		if err := fstest.TestFS(r, "README.md", "skills/a/SKILL.md", "skills/a/empty", "with space/é.md"); err != nil {
			t.Error(err)
		}
		for path, want := range someFiles {
			got, err := fs.ReadFile(r, path)
			if err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v", path, got, err)
			}
			mode := fs.FileMode(0o644)
			if strings.HasPrefix(want, "#!") {
				mode = 0o755
			}
			if info, err := r.Stat(path); err != nil || info.Mode() != mode || info.Size() != int64(len(want)) {
				t.Errorf("%s: got %v, %v", path, info, err)
			}
		}
		if n := len(r.Paths()); n != len(someFiles) {
			t.Errorf("got %d paths", n)
		}
	}
}

// What is wanted as a whole comes from a repository of this machine at once.
func TestFetchAll(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(someFiles)
	r, err := newClient(t, nil).Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: t.TempDir(), AllowFile: true, All: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Rename(repo.Dir, repo.Dir+"-away"); err != nil { // from here on nothing can be fetched
		t.Fatal(err)
	}
	for path, want := range someFiles {
		if b, err := fs.ReadFile(r, path); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v", path, b, err)
		}
	}
}

// Of a repository of this machine only the contents that are needed are fetched, whatever its configuration says.
func TestNeed(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(someFiles)
	repo.Git("config", "uploadpack.allowFilter", "false")
	r := fetched(t, newClient(t, nil), repo.URL(), id, func(p string) bool { return strings.HasSuffix(p, "SKILL.md") })
	away := repo.Dir + "-away"
	if err := os.Rename(repo.Dir, away); err != nil { // from here on nothing can be fetched
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(r, "skills/b/SKILL.md"); err != nil || string(b) != "b\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := fs.ReadFile(r, "README.md"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("got %v, want an error: it is not here", err)
	}
	if err := os.Rename(away, repo.Dir); err != nil {
		t.Fatal(err)
	}
	if err := r.Need(t.Context(), func(p string) bool { return strings.HasPrefix(p, "skills/a/") }); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(repo.Dir, away); err != nil {
		t.Fatal(err)
	}
	if b, err := fs.ReadFile(r, "skills/a/scripts/run.py"); err != nil || string(b) != someFiles["skills/a/scripts/run.py"] {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := fs.ReadFile(r, "skills/b/data.bin"); err == nil {
		t.Error("the content of another skill is here")
	}
}

// C24: which kind a name is.
func TestResolve(t *testing.T) {
	repo := gittest.New(t)
	one := repo.Commit(map[string]string{"SKILL.md": "one"})
	repo.Git("tag", "-a", "-m", "x", "v1", one)
	repo.Git("tag", "light", one)
	annotated := repo.Git("rev-parse", "v1")
	two := repo.Commit(map[string]string{"SKILL.md": "two"})
	repo.Git("branch", "feature/x", one)
	repo.Git("branch", "both", one)
	repo.Git("tag", "both", two)
	repo.Git("branch", two[:8], one)
	repo.Git("branch", "cafe", one)
	repo.Git("branch", "0badcafe", one)
	repo.Git("tag", "20261125", one)
	repo.Git("tag", "deadbeef1", one)
	c := newClient(t, nil)
	for _, tt := range []struct {
		name       string
		kind       git.Kind
		want       git.Tip
		wantErr    error
		wantInText string
	}{
		{name: "", want: git.Tip{Commit: two, Kind: git.Branch, Name: "main"}},
		{name: "main", want: git.Tip{Commit: two, Kind: git.Branch, Name: "main"}},
		{name: "feature/x", want: git.Tip{Commit: one, Kind: git.Branch, Name: "feature/x"}},
		{name: "v1", want: git.Tip{Commit: one, Kind: git.Tag, Name: "v1"}},
		{name: "light", want: git.Tip{Commit: one, Kind: git.Tag, Name: "light"}},
		{name: "refs/tags/v1", want: git.Tip{Commit: one, Kind: git.Tag, Name: "v1"}},
		{name: "refs/heads/main", want: git.Tip{Commit: two, Kind: git.Branch, Name: "main"}},
		{name: "both", wantErr: git.ErrAmbiguous, wantInText: `a branch and a tag "both"`},
		{name: "both", kind: git.Branch, want: git.Tip{Commit: one, Kind: git.Branch, Name: "both"}},
		{name: "both", kind: git.Tag, want: git.Tip{Commit: two, Kind: git.Tag, Name: "both"}},
		// attacks-two L3: a name that looks like a commit id stands for nothing, unless the user says what it is
		{name: two[:8], wantErr: git.ErrAmbiguous, wantInText: "can also be the beginning of a commit id"},
		{name: two[:8], kind: git.Branch, want: git.Tip{Commit: one, Kind: git.Branch, Name: two[:8]}},
		{name: two[:8], kind: git.Commit, want: git.Tip{Commit: two, Kind: git.Commit}},
		{name: "0badcafe", wantErr: git.ErrAmbiguous},
		{name: "deadbeef1", wantErr: git.ErrAmbiguous},
		{name: "cafe", want: git.Tip{Commit: one, Kind: git.Branch, Name: "cafe"}},
		{name: "20261125", want: git.Tip{Commit: one, Kind: git.Tag, Name: "20261125"}},
		{name: "main", kind: git.Tag, wantErr: git.ErrName, wantInText: `no tag "main"`},
		{name: "v1", kind: git.Branch, wantErr: git.ErrName},
		{name: one, want: git.Tip{Commit: one, Kind: git.Commit}},
		{name: strings.ToUpper(one), want: git.Tip{Commit: one, Kind: git.Commit}},
		{name: two[:9], want: git.Tip{Commit: two, Kind: git.Commit}},
		{name: annotated[:12], wantErr: git.ErrName},
		{name: "0123456789", wantErr: git.ErrName, wantInText: "write all 40 digits"},
		{name: "xyz", kind: git.Commit, wantErr: git.ErrName, wantInText: "not a commit id"},
		{name: "absent", wantErr: git.ErrName, wantInText: `no branch or tag "absent"`},
		{name: "--upload-pack=x", wantErr: git.ErrName},
		{name: "a..b", wantErr: git.ErrName},
	} {
		tip, err := c.Resolve(t.Context(), &git.Query{URL: repo.URL(), Name: tt.name, Kind: tt.kind, AllowFile: true})
		if !errors.Is(err, tt.wantErr) || err != nil && !strings.Contains(err.Error(), tt.wantInText) {
			t.Errorf("%s %q: got %v", tt.kind, tt.name, err)
			continue
		}
		if tt.want.URL = repo.URL(); err == nil && *tip != tt.want {
			t.Errorf("%s %q: got %+v", tt.kind, tt.name, tip)
		}
	}
}

func TestEmptyRepository(t *testing.T) {
	repo := gittest.New(t)
	_, err := newClient(t, nil).Resolve(t.Context(), &git.Query{URL: repo.URL(), AllowFile: true})
	if !errors.Is(err, git.ErrName) {
		t.Errorf("got %v", err)
	}
}

// security 2.6 #102: what was pinned is fetched by its id, wherever the tag points now.
func TestMovedTag(t *testing.T) {
	repo := gittest.New(t)
	old := repo.Commit(map[string]string{"SKILL.md": "old"})
	repo.Git("tag", "v1")
	c := newClient(t, nil)
	now := repo.Commit(map[string]string{"SKILL.md": "new"})
	repo.Git("tag", "-f", "v1", now)
	tip, err := c.Resolve(t.Context(), &git.Query{URL: repo.URL(), Name: "v1", AllowFile: true})
	if err != nil || tip.Commit != now {
		t.Fatal(tip, err)
	}
	b, err := fs.ReadFile(fetched(t, c, repo.URL(), old, everything), "SKILL.md")
	if err != nil || string(b) != "old" {
		t.Errorf("got %q, %v", b, err)
	}
	repo.Git("update-ref", "refs/heads/main", repo.CommitTo("other", map[string]string{"SKILL.md": "forced"}))
	if b, err := fs.ReadFile(fetched(t, c, repo.URL(), now, everything), "SKILL.md"); err != nil || string(b) != "new" {
		t.Errorf("after a force push: got %q, %v", b, err)
	}
}

func TestProgress(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(someFiles)
	var steps []string
	r, err := newClient(t, nil).Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: t.TempDir(), AllowFile: true, Want: everything,
		Progress: func(p git.Progress) { steps = append(steps, p.Step) }})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if !slices.Contains(steps, "receiving objects") {
		t.Errorf("got %q", steps)
	}
}

// Files of a submodule stand at its path, within the limits of the repository; a commit with too many files has those that are chosen.
func TestAddSubmodule(t *testing.T) {
	sub, repo := gittest.New(t), gittest.New(t)
	pinned := sub.Commit(someFiles)
	id := repo.Commit(map[string]string{"SKILL.md": "top", "lib/sub": gittest.Submodule + pinned, "lib/x": "x"})
	for files, want := range map[int]error{0: nil, len(someFiles) + 1: git.ErrTooMany, len(someFiles) + 2: nil} {
		c := newClient(t, func(o *git.Options) { o.Limits.Files = files })
		r := fetched(t, c, repo.URL(), id, nil)
		left := r.LeftOut()
		if len(left) != 1 || left[0].Commit != pinned {
			t.Fatalf("left out %v", left)
		}
		err := r.AddSubmodule(t.Context(), c, left[0], &git.FetchOptions{URL: sub.URL(), AllowFile: true})
		if !errors.Is(err, want) {
			t.Errorf("limit %d: got %v, want %v", files, err, want)
		}
		if err != nil {
			if len(r.Paths()) != 2 || len(r.LeftOut()) != 1 {
				t.Errorf("after an error: %q, left out %v", r.Paths(), r.LeftOut())
			}
			continue
		}
		if err := fstest.TestFS(r, "SKILL.md", "lib/sub/skills/a/SKILL.md", "lib/sub/with space/é.md"); err != nil || len(r.LeftOut()) != 0 {
			t.Error(err, r.LeftOut())
		}
		err = r.AddSubmodule(t.Context(), c, left[0], &git.FetchOptions{URL: sub.URL(), AllowFile: true})
		if files == 0 && !errors.Is(err, git.ErrHostile) {
			t.Errorf("a second time: got %v", err)
		}
	}
	c := newClient(t, func(o *git.Options) { o.Limits.Files = 4 })
	choose := func(paths iter.Seq[string]) func(string) bool {
		if n := len(slices.Collect(paths)); n != len(someFiles) {
			t.Errorf("told of %d files", n)
		}
		return func(p string) bool { return strings.HasPrefix(p, "skills/a/") }
	}
	r, err := c.Fetch(t.Context(), &git.FetchOptions{URL: sub.URL(), Commit: pinned, Dir: t.TempDir(), AllowFile: true, Choose: choose})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := r.Paths(); len(got) != 3 {
		t.Errorf("got %q", got)
	}
}
