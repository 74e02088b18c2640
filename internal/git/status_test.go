//go:build unix

package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/gitdir"
)

// tree returns a new work tree in which files differ from what is committed.
func tree(t *testing.T, made ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"same.txt": "a", "changed.txt": "a", "gone.txt": "a", ".gitignore": "*.log\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	for _, args := range [][]string{append([]string{"init", "-q", "-b", "work"}, made...), {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"}} {
		if code := plain(t, dir, nil, args...); code != 0 {
			t.Fatalf("git %q: %d", args, code)
		}
	}
	write(t, filepath.Join(dir, "changed.txt"), "other")
	write(t, filepath.Join(dir, "é.txt"), "new")
	write(t, filepath.Join(dir, "x.log"), "ignored")
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// status asks for the status of a work tree as the agent does.
func status(t *testing.T, c *git.Client, dir string) ([]string, error) {
	t.Helper()
	at, err := gitdir.Of(dir)
	if err != nil || at == nil {
		t.Fatal(at, err)
	}
	head, _ := at.Head()
	return c.Status(t.Context(), &git.WorkTree{Dir: dir, Git: at.Git, Common: at.Common, Head: head, Config: at.Plain(nil)}, t.TempDir())
}

var differs = []string{" M changed.txt", " D gone.txt", "?? é.txt"}

// issue 26.4: what has changed, in ordinary and in linked work trees, with either kind of ids.
func TestStatus(t *testing.T) {
	c := newClient(t, nil)
	for _, made := range [][]string{nil, {"--object-format=sha256"}} {
		dir := tree(t, made...)
		if got, err := status(t, c, dir); err != nil || !cmp.Equal(got, differs) {
			t.Errorf("%q: got %q, %v", made, got, err)
		}
		linked := dir + "-linked"
		if code := plain(t, dir, nil, "worktree", "add", "-q", linked); code != 0 {
			t.Fatal(code)
		}
		write(t, filepath.Join(linked, "changed.txt"), "third")
		if got, err := status(t, c, linked); err != nil || !cmp.Equal(got, differs[:1]) {
			t.Errorf("linked: got %q, %v", got, err)
		}
	}
	empty, _ := filepath.EvalSymlinks(t.TempDir())
	plain(t, empty, nil, "init", "-q")
	if got, err := status(t, c, empty); err != nil || len(got) != 0 {
		t.Errorf("without a commit: got %q, %v", got, err)
	}
}

// A repository that wants programs to run gets none, and its index stays as it is.
func TestStatusRunsNothing(t *testing.T) {
	dir, note := tree(t), filepath.Join(t.TempDir(), "ran")
	run := script(t, "echo ran >> "+note+"\ncat\n")
	hooks := filepath.Dir(script(t, ""))
	if err := os.Symlink(run, filepath.Join(hooks, "post-index-change")); err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]string{{"core.fsmonitor", run}, {"core.hooksPath", hooks}, {"filter.x.clean", run}, {"filter.x.process", run}, {"diff.external", run}, {"core.alternateRefsCommand", run},
		{"include.path", filepath.Join(dir, "more")}} {
		if code := plain(t, dir, nil, "config", s[0], s[1]); code != 0 {
			t.Fatal(s)
		}
	}
	write(t, filepath.Join(dir, "more"), "[core]\n\tfsmonitor = "+run+"\n")
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=x\n")
	before, _ := os.ReadFile(filepath.Join(dir, ".git", "index"))
	got, err := status(t, newClient(t, nil), dir)
	if err != nil || len(got) != len(differs)+1 || exists(note) {
		t.Errorf("got %q, %v; ran: %t", got, err, exists(note))
	}
	if after, _ := os.ReadFile(filepath.Join(dir, ".git", "index")); string(after) != string(before) {
		t.Error("the index was written")
	}
	plain(t, dir, nil, "status") // shows that the trap works
	if !exists(note) {
		t.Error("git status runs nothing of this repository at all")
	}
}

// Nothing runs in a repository below the work tree either.
func TestStatusOfSubmodule(t *testing.T) {
	dir, note := tree(t), filepath.Join(t.TempDir(), "ran")
	sub := filepath.Join(dir, "sub")
	if err := os.Rename(tree(t), sub); err != nil {
		t.Fatal(err)
	}
	plain(t, dir, nil, "add", "sub")
	plain(t, sub, nil, "config", "filter.x.clean", script(t, "echo ran >> "+note+"\ncat\n"))
	write(t, filepath.Join(sub, ".git", "info", "attributes"), "* filter=x\n")
	write(t, filepath.Join(sub, "changed.txt"), "b") // of the same size, so that git reads it
	if got, err := status(t, newClient(t, nil), dir); err != nil || !cmp.Equal(got, differs) || exists(note) {
		t.Errorf("got %q, %v; ran: %t", got, err, exists(note))
	}
	plain(t, dir, nil, "status")
	if !exists(note) {
		t.Error("git status runs nothing of this submodule at all")
	}
}

// What would make git wait for ever ends at the limit.
func TestStatusEnds(t *testing.T) {
	dir := tree(t)
	index := filepath.Join(dir, ".git", "index")
	if err := errors.Join(os.Remove(index), syscall.Mkfifo(index, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, func(o *git.Options) { o.Limits.Time = 300 * time.Millisecond })
	if got, err := status(t, c, dir); !errors.Is(err, git.ErrTooMuch) {
		t.Errorf("got %q, %v", got, err)
	}
}

// A repository whose HEAD or settings cannot be read is an error, and no more.
func TestStatusOfRuins(t *testing.T) {
	c := newClient(t, nil)
	for _, name := range []string{"HEAD", "objects", "index"} {
		dir := tree(t)
		at := filepath.Join(dir, ".git", name)
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		write(t, at, "ruined")
		if got, err := status(t, c, dir); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := tree(t)
	write(t, filepath.Join(dir, "new\nline"), "new")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sub", "x.go"), "new")
	at, err := gitdir.Of(dir)
	if err != nil || at == nil {
		t.Fatal(at, err)
	}
	head, _ := at.Head()
	w := &git.WorkTree{Dir: dir, Git: at.Git, Common: at.Common, Head: head, Config: at.Plain(nil)}
	for folder, want := range map[string][]string{".": {".gitignore", "changed.txt", "new\nline", "same.txt", "sub/x.go", "é.txt"}, "sub": {"x.go"}} {
		got, err := newClient(t, nil).Files(t.Context(), w, filepath.Join(dir, folder), t.TempDir())
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("in %s: %q, %v, want %q", folder, got, err, want)
		}
	}
}
