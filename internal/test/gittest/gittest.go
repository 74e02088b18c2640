// Package gittest has repositories for tests, and a server of them. They are made and served by the git on PATH, which reads no
// configuration of the user. Tests are skipped where there is no git.
package gittest

import (
	"bytes"
	"encoding/hex"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Program returns the path of git.
func Program(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		tb.Skip("git is not installed")
	}
	return path
}

// Repo is a bare repository that a test writes commits into.
type Repo struct {
	Dir string
	tb  testing.TB
}

// New returns a repository without a commit, whose server may leave out contents.
func New(tb testing.TB) *Repo {
	tb.Helper()
	return NewIn(tb, filepath.Join(tb.TempDir(), "repo.git"))
}

// NewIn is New in a folder that is made, with more options of git init.
func NewIn(tb testing.TB, dir string, options ...string) *Repo {
	tb.Helper()
	r := &Repo{Dir: dir, tb: tb}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	r.Git(append([]string{"init", "--quiet", "--bare", "--initial-branch=main"}, options...)...)
	r.Git("config", "uploadpack.allowFilter", "true")
	return r
}

// At returns the repository of a folder that is there.
func At(tb testing.TB, dir string) *Repo { return &Repo{Dir: dir, tb: tb} }

// URL returns the file URL of the repository.
func (r *Repo) URL() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.Dir)}).String()
}

// Git runs git in the repository and returns what it prints, without the space around it.
func (r *Repo) Git(args ...string) string {
	r.tb.Helper()
	return r.GitWith("", args...)
}

// GitWith is Git with a standard input.
func (r *Repo) GitWith(stdin string, args ...string) string {
	r.tb.Helper()
	cmd := exec.Command(Program(r.tb), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, Env(r.tb), strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if e, ok := err.(*exec.ExitError); ok {
			stderr = e.Stderr
		}
		r.tb.Fatalf("git %v: %v\n%s", args, err, stderr)
	}
	return strings.TrimSpace(string(out))
}

// Env returns an environment in which git reads no configuration of the user and commits have one author and time.
func Env(tb testing.TB) []string {
	home := filepath.Join(tb.TempDir(), "home")
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

// Commit makes files, by their paths, the whole content of the branch main and returns the id of the commit. A content that begins
// with "#!" is executable. One of Submodule and a commit id is a submodule.
func (r *Repo) Commit(files map[string]string) string {
	r.tb.Helper()
	return r.CommitTo("main", files)
}

// Submodule begins the content of a file that is a submodule.
const Submodule = "submodule "

// CommitTo is Commit for another branch.
func (r *Repo) CommitTo(branch string, files map[string]string) string {
	r.tb.Helper()
	var in bytes.Buffer
	in.WriteString("commit refs/heads/" + branch + "\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n")
	if r.has("refs/heads/" + branch) {
		in.WriteString("from refs/heads/" + branch + "^0\n")
	}
	in.WriteString("deleteall\n")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		mode := "100644"
		if id, ok := strings.CutPrefix(files[path], Submodule); ok {
			in.WriteString("M 160000 " + id + " " + quote(path) + "\n")
			continue
		}
		if strings.HasPrefix(files[path], "#!") {
			mode = "100755"
		}
		in.WriteString("M " + mode + " inline " + quote(path) + "\ndata " + strconv.Itoa(len(files[path])) + "\n" + files[path] + "\n")
	}
	r.GitWith(in.String(), "fast-import", "--quiet")
	return r.Git("rev-parse", "refs/heads/"+branch)
}

func (r *Repo) has(ref string) bool {
	return r.Git("for-each-ref", ref) != ""
}

// Entry is an entry of a tree that git itself would not make.
type Entry struct{ Mode, Name, ID string }

// CommitTree makes a commit of one tree with the entries and puts the branch main on it. An ID that is "" is that of a file.
func (r *Repo) CommitTree(entries ...Entry) string {
	r.tb.Helper()
	var tree bytes.Buffer
	for _, e := range entries {
		if e.ID == "" {
			e.ID = r.GitWith("content", "hash-object", "-w", "--stdin")
		}
		id, err := hex.DecodeString(e.ID)
		if err != nil {
			r.tb.Fatal(err)
		}
		tree.WriteString(e.Mode + " " + e.Name + "\x00")
		tree.Write(id)
	}
	id := r.GitWith(tree.String(), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	commit := r.Git("commit-tree", "-m", "x", id)
	r.Git("update-ref", "refs/heads/main", commit)
	return commit
}

func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
