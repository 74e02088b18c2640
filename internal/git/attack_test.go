//go:build unix

package git_test

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// plain runs git as a user would, with variables added, and returns its exit code.
func plain(t *testing.T, dir string, env []string, args ...string) int {
	t.Helper()
	cmd := exec.Command(gittest.Program(t), args...)
	cmd.Dir, cmd.Env = dir, append(gittest.Env(t), env...)
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// recorder returns a program in git's place that notes that it was started.
func recorder(t *testing.T) (path, note string) {
	t.Helper()
	note = filepath.Join(t.TempDir(), "started")
	return script(t, "echo \"$@\" >> "+note+"\necho git version 2.45.0\n"), note
}

// script writes a shell script and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func query(url string) *git.Query { return &git.Query{URL: url, AllowFile: true} }

// security 2.6 #93, security 2.6 #94, security 2.6 #96: these URLs do not reach git.
func TestRefusedURLs(t *testing.T) {
	program, note := recorder(t)
	c := newClient(t, func(o *git.Options) { o.Program = program })
	for _, url := range []string{
		"ext::sh -c touch% /tmp/x", "ext::sh", "fd::17", "git://example.com/x", "http://example.com/x", "ftp://example.com/x", "", "x", "/tmp/x", "./x", "C:/x", "https:x",
		"--upload-pack=touch x", "-x", "https://", "https://example.com", "https://example.com/", "https:///x", "ssh://-oProxyCommand=touch%20x/x", "ssh://-oProxyCommand/x",
		"ssh://a%20b@example.com/x", "ssh://-x@example.com/x", "ssh://example.com/-x", "ssh://exa mple.com/x", "https://user:secret@example.com/x", "https://example.com:0/x",
		"https://example.com:99999/x", "https://example.com:/x", "https://example.com/x?y", "https://example.com/x#y", "https://example.com/x\ny", "https://example.com/%0ax",
		`https://example.com\@other.example/x`, "https://[fe80::1%25eth0]/x", "file://host/x", "file://user@/x", "git@example.com:-x", "-git@example.com:x", "git@-oProxyCommand=x:x",
		"git@example.com:", "git@example.com::x", "git@example.com:/-x", "https://example.com/" + strings.Repeat("x", 3000), "https://exa\u200bmple.com/x", "https://-example.com/x",
	} {
		if _, err := c.Resolve(t.Context(), query(url)); !errors.Is(err, git.ErrURL) {
			t.Errorf("resolve %q: got %v", url, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error has the password: %v", err)
		}
		_, err := c.Fetch(t.Context(), &git.FetchOptions{URL: url, Commit: strings.Repeat("a", 40), Dir: t.TempDir(), AllowFile: true})
		if !errors.Is(err, git.ErrURL) {
			t.Errorf("fetch %q: got %v", url, err)
		}
	}
	if err := git.CheckURL("file:///x", false); !errors.Is(err, git.ErrURL) {
		t.Errorf("a file URL that nobody typed: got %v", err)
	}
	if exists(note) {
		t.Error("git was started")
	}
	for _, url := range []string{"https://example.com/x", "https://example.com:8443/o/r.git", "https://user@example.com/x", "ssh://git@example.com/x", "ssh://git@example.com:22/x", "https://[::1]:8443/x",
		"git@example.com:o/r.git", "git@example.com:~o/r.git", "git@example.com:/o/r", "https://example.com/o/r%20s", "file:///x"} {
		if err := git.CheckURL(url, true); err != nil {
			t.Error(err)
		}
	}
}

// security 2.6 #93, security 2.6 #94: the controls: plain git starts what such URLs name.
func TestPlainGitStartsPrograms(t *testing.T) {
	repo := gittest.New(t)
	ran := filepath.Join(t.TempDir(), "ran")
	plain(t, repo.Dir, []string{"GIT_ALLOW_PROTOCOL=ext"}, "ls-remote", "ext::sh -c touch% "+ran)
	if !exists(ran) {
		t.Error("ext:: did not run a program")
	}
	os.Remove(ran)
	plain(t, repo.Dir, nil, "ls-remote", "--upload-pack=touch "+ran+"; true", ".")
	if !exists(ran) {
		t.Error("--upload-pack did not run a program")
	}
}

// hostileHome is a home whose configuration starts programs for many things that git does.
func hostileHome(t *testing.T, ran string) string {
	t.Helper()
	home := t.TempDir()
	hooks := filepath.Join(home, "template", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-fetch", "pre-auto-gc"} {
		if err := os.WriteFile(filepath.Join(hooks, hook), []byte("#!/bin/sh\ntouch "+ran+"-"+hook+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := "[init]\n templateDir = " + filepath.Join(home, "template") + "\n[core]\n hooksPath = " + hooks + "\n fsmonitor = touch " + ran + "-fsmonitor\n" +
		" alternateRefsCommand = touch " + ran + "-alternate\n sshCommand = touch " + ran + "-ssh\n" +
		"[filter \"f\"]\n smudge = touch " + ran + "-filter && cat\n process = touch " + ran + "-process\n[uploadpack]\n packObjectsHook = touch " + ran + "-pack\n" +
		"[url \"file:///nowhere/\"]\n insteadOf = file:///\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// security 2.6 #97: nothing of the user's configuration but credentials and the way to the server is used.
func TestUserConfiguration(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(map[string]string{"SKILL.md": "a", ".gitattributes": "*.md filter=f\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	home := hostileHome(t, ran)
	c := newClient(t, func(o *git.Options) {
		o.Env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_SSH_COMMAND=touch " + ran}
	})
	if _, err := c.Resolve(t.Context(), query(repo.URL())); err != nil {
		t.Error(err)
	}
	r := fetched(t, c, repo.URL(), id, everything)
	if b, err := fs.ReadFile(r, "SKILL.md"); err != nil || string(b) != "a" {
		t.Errorf("got %q, %v", b, err)
	}
	if found, _ := filepath.Glob(ran + "*"); len(found) > 0 {
		t.Errorf("ran %q", found)
	}
	plain(t, t.TempDir(), []string{"HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig")}, "clone", "--quiet", repo.Dir, "copy")
	if found, _ := filepath.Glob(ran + "*"); len(found) == 0 {
		t.Error("control: plain git ran nothing, so the test proves nothing")
	}
}

// security 2.6 #97: the settings of a repository that this process stands in are not used either.
func TestRepositoryAround(t *testing.T) {
	repo := gittest.New(t)
	repo.Commit(map[string]string{"SKILL.md": "a"})
	around := gittest.New(t)
	around.Git("config", "url.file:///nowhere/.insteadOf", "file:///")
	t.Chdir(around.Dir)
	if _, err := newClient(t, nil).Resolve(t.Context(), query(repo.URL())); err != nil {
		t.Error(err)
	}
	if plain(t, around.Dir, nil, "ls-remote", repo.URL()) == 0 {
		t.Error("control: plain git did not use them, so the test proves nothing")
	}
}

// security 2.6 #97, security 2.6 #109: the server of a repository of this machine runs nothing that the repository's configuration
// or its hooks name.
func TestConfigurationOfServer(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(map[string]string{"SKILL.md": "a"})
	ran := filepath.Join(t.TempDir(), "ran")
	program := script(t, "touch "+ran+"\nexec \"$@\"\n")
	for _, key := range []string{"uploadpack.packObjectsHook", "core.fsmonitor", "core.alternateRefsCommand", "core.sshCommand", "core.pager", "core.gitProxy", "gpg.program"} {
		repo.Git("config", key, program)
	}
	for _, hook := range []string{"pre-receive", "post-upload-pack", "reference-transaction", "post-checkout"} {
		if err := os.MkdirAll(filepath.Join(repo.Dir, "hooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(repo.Dir, "hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, nil)
	if _, err := c.Resolve(t.Context(), query(repo.URL())); err != nil {
		t.Error(err)
	}
	if b, err := fs.ReadFile(fetched(t, c, repo.URL(), id, nil), "SKILL.md"); err != nil || string(b) != "a" {
		t.Errorf("got %q, %v", b, err)
	}
	if exists(ran) {
		t.Error("a program was started")
	}
	plain(t, t.TempDir(), []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=" + filepath.Join(repo.Dir, "hooks")}, "clone", "--quiet", repo.Dir, "copy")
	if !exists(ran) {
		t.Error("control: plain git ran nothing, so the test proves nothing")
	}
}

// security 2.6 #98: a submodule is left out, and its file is a file or refused.
func TestSubmodules(t *testing.T) {
	repo := gittest.New(t)
	other := repo.Commit(map[string]string{"x": "x"})
	id := repo.CommitTree(gittest.Entry{Mode: "100644", Name: "SKILL.md"}, gittest.Entry{Mode: "160000", Name: "sub", ID: other})
	r := fetched(t, newClient(t, nil), repo.URL(), id, everything)
	if want := []git.LeftOut{{Path: "sub", Reason: "is a submodule", Commit: other}}; !slices.Equal(r.LeftOut(), want) {
		t.Errorf("left out %v", r.LeftOut())
	}
	for _, modules := range []string{"[submodule \"../../x\"]\n\tpath = sub\n\turl = https://example.com/x\n", "[submodule \"x\"]\n\tpath = -u./p\n\turl = ext::sh -c id\n", "[submodule \"x\"]\n\tpath = sub\n\turl = -u./p\n"} {
		blob := repo.GitWith(modules, "hash-object", "-w", "--stdin")
		id := repo.CommitTree(gittest.Entry{Mode: "100644", Name: ".gitmodules", ID: blob}, gittest.Entry{Mode: "100644", Name: "SKILL.md"}, gittest.Entry{Mode: "160000", Name: "sub", ID: other})
		dir := t.TempDir()
		r, err := newClient(t, nil).Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: dir, Want: everything, AllowFile: true})
		if err == nil {
			if paths := r.Paths(); !slices.Equal(paths, []string{".gitmodules", "SKILL.md"}) {
				t.Errorf("got %q", paths)
			}
			r.Close()
		} else if !errors.Is(err, git.ErrHostile) {
			t.Errorf("got %v", err)
		}
		if exists(filepath.Join(dir, "modules")) || exists(filepath.Join(dir, "sub")) {
			t.Error("the submodule was touched")
		}
	}
}

// security 2.6 #100: hostile names are refused, and nothing is written under them.
func TestHostileNames(t *testing.T) {
	for name, accepted := range map[string]bool{
		"../evil": false, "..": false, ".": false, ".git": false, "a/b": true, `a\b`: false, ".GIT": false, "git~1": false, ".git ": false, ".git.": false, ".g\u200cit": false,
		"x\ny": false, "\x1b[2J": false, "\u009b2J": false, "con": false, "a:b": false, "a ": false, "\xff\xfe": false, "/etc": false, "a//b": false, ".gitignore": true, "ok": true,
	} {
		repo := gittest.New(t)
		id := repo.CommitTree(gittest.Entry{Mode: "100644", Name: name})
		dir := t.TempDir()
		r, err := newClient(t, nil).Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: dir, Want: everything, AllowFile: true})
		if err != nil {
			if accepted && name != "a/b" || !errors.Is(err, git.ErrHostile) {
				t.Errorf("%q: got %v", name, err)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\u009b") {
				t.Errorf("%q: the error has a control character: %q", name, err)
			}
		} else {
			if got := len(r.Paths()) == 1; got != accepted {
				t.Errorf("%q: got %q, left out %q", name, r.Paths(), r.LeftOut())
			}
			r.Close()
		}
		for _, made := range []string{"../evil", "evil", "b", "x", "ok", ".git", "con"} {
			if exists(filepath.Join(dir, made)) {
				t.Errorf("%q: %s was made", name, made)
			}
		}
	}
	repo := gittest.New(t)
	repo.CommitTree(gittest.Entry{Mode: "100644", Name: `a\b`})
	if plain(t, t.TempDir(), nil, "clone", "--quiet", repo.Dir, "copy") != 0 {
		t.Log("control: this git refuses a backslash itself")
	}
}

// security 2.6 #100: an entry twice, and a file that is a folder too.
func TestNamesTwice(t *testing.T) {
	repo := gittest.New(t)
	for _, entries := range [][]gittest.Entry{
		{{Mode: "100644", Name: "a"}, {Mode: "100644", Name: "a"}},
		{{Mode: "100644", Name: "a"}, {Mode: "100644", Name: "a/b"}},
	} {
		_, err := newClient(t, nil).Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: repo.CommitTree(entries...), Dir: t.TempDir(), AllowFile: true})
		if !errors.Is(err, git.ErrHostile) {
			t.Errorf("%v: got %v", entries, err)
		}
	}
}

// security 2.6 #101: only regular files, with the modes 0644 and 0755.
func TestModes(t *testing.T) {
	repo := gittest.New(t)
	id := repo.CommitTree(gittest.Entry{Mode: "100664", Name: "a"}, gittest.Entry{Mode: "104755", Name: "b"}, gittest.Entry{Mode: "120000", Name: "c"}, gittest.Entry{Mode: "100600", Name: "d"})
	c := newClient(t, nil)
	r, err := c.Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: t.TempDir(), AllowFile: true, Want: everything})
	if err != nil { // fsck
		if !errors.Is(err, git.ErrHostile) {
			t.Error(err)
		}
		return
	}
	defer r.Close()
	for _, p := range r.Paths() {
		if info, err := r.Stat(p); err != nil || info.Mode() != 0o644 && info.Mode() != 0o755 {
			t.Errorf("%s: got %v, %v", p, info, err)
		}
	}
	if want := (git.LeftOut{Path: "c", Reason: `is a symbolic link to "content", which is not there`}); !slices.Contains(r.LeftOut(), want) {
		t.Errorf("left out %v", r.LeftOut())
	}
}

// TestMain is also the filter of TestAnotherObject: with GIT_TEST_SWAP it passes its input on, with one text in place of another.
func TestMain(m *testing.M) {
	from, to, filter := strings.Cut(os.Getenv("GIT_TEST_SWAP"), ",")
	if !filter {
		os.Exit(m.Run())
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := os.Stdin.Read(buffer)
		os.Stdout.WriteString(strings.ReplaceAll(string(buffer[:n]), from, to))
		if err != nil {
			os.Exit(0)
		}
	}
}

// fakeSSH returns a program in the place of ssh that runs the command here. change is a filter for what git sends.
func fakeSSH(t *testing.T, change string) string {
	t.Helper()
	if change == "" {
		change = "cat"
	}
	return script(t, `for last; do :; done
echo "$@" >> "$0.args"
`+change+` | sh -c "$last"
`)
}

// security 2.6 #104: a server that sends another commit than the one that was asked for.
func TestAnotherObject(t *testing.T) {
	repo := gittest.New(t)
	one := repo.Commit(map[string]string{"SKILL.md": "one"})
	two := repo.Commit(map[string]string{"SKILL.md": "two"})
	if err := os.Rename(repo.Dir, repo.Dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	repo.Dir += "-moved"
	o := &git.FetchOptions{URL: "ssh://git@localhost" + repo.Dir, Commit: one, Dir: t.TempDir(), Want: everything}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	honest := newClient(t, func(o *git.Options) { o.SSH = fakeSSH(t, "GIT_TEST_SWAP="+one+","+one+" '"+self+"'") })
	r, err := honest.Fetch(t.Context(), o)
	if err != nil {
		t.Fatal("control:", err)
	}
	r.Close()
	o.Dir = t.TempDir()
	swapping := newClient(t, func(o *git.Options) {
		o.SSH = fakeSSH(t, "GIT_TEST_SWAP="+one+","+two+" '"+self+"'")
	})
	if r, err := swapping.Fetch(t.Context(), o); err == nil {
		t.Errorf("got %q", r.Paths())
	}
}

// security 2.6 #105: a redirect is followed to the same repository on the same host only.
func TestRedirects(t *testing.T) {
	dir := t.TempDir()
	repo := gittest.NewIn(t, filepath.Join(dir, "repo.git"))
	id := repo.Commit(map[string]string{"SKILL.md": "a"})
	other := gittest.Serve(t, dir)
	server := gittest.Serve(t, dir)
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		for from, to := range map[string]string{"/repo/": "/repo.git/", "/away/": other.URL + "/repo.git/", "/renamed/": "/repo.git/", "/plain/": "http://localhost/repo.git/", "/loop/": "/loop.git/", "/loop.git/": "/loop/"} {
			if rest, ok := strings.CutPrefix(r.URL.Path, from); ok {
				http.Redirect(w, r, to+rest+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
				return true
			}
		}
		return false
	})
	c := newClient(t, func(o *git.Options) { o.Env = append(o.Env, "GIT_SSL_CAINFO="+server.CAFile) })
	tip, err := c.Resolve(t.Context(), query(server.URL+"/repo"))
	if err != nil || tip.URL != server.URL+"/repo.git" || tip.Commit != id {
		t.Errorf("got %+v, %v", tip, err)
	} else if b, err := fs.ReadFile(fetched(t, c, tip.URL, id, everything), "SKILL.md"); err != nil || string(b) != "a" {
		t.Errorf("got %q, %v", b, err)
	}
	for from, to := range map[string]string{"/away": other.URL + "/repo.git", "/renamed": server.URL + "/repo.git", "/plain": "", "/loop": ""} {
		_, err := c.Resolve(t.Context(), query(server.URL+from))
		if !errors.Is(err, git.ErrMoved) || !strings.Contains(err.Error(), to) {
			t.Errorf("%s: got %v", from, err)
		}
		if _, err := c.Fetch(t.Context(), &git.FetchOptions{URL: server.URL + from, Commit: id, Dir: t.TempDir()}); !errors.Is(err, git.ErrMoved) {
			t.Errorf("fetch %s: got %v", from, err)
		}
	}
	if plain(t, dir, []string{"GIT_SSL_CAINFO=" + server.CAFile}, "ls-remote", server.URL+"/away") != 0 {
		t.Error("control: plain git did not follow, so the test proves nothing")
	}
}

// security 2.6 #106: bytes, objects, files, the size of a file and time are bounded.
func TestLimits(t *testing.T) {
	repo := gittest.New(t)
	noise := make([]byte, 4<<20)
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise)
	files := map[string]string{"big": string(noise), "a": "a", "b": "b"}
	id := repo.Commit(files)
	fetch := func(l git.Limits) error {
		c := newClient(t, func(o *git.Options) { o.Limits = l })
		r, err := c.Fetch(t.Context(), &git.FetchOptions{URL: repo.URL(), Commit: id, Dir: t.TempDir(), AllowFile: true, Want: everything})
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = fs.ReadFile(r, "big")
		return err
	}
	for name, l := range map[string]git.Limits{"bytes": {Bytes: 1 << 20}, "objects": {Objects: 2}, "files": {Files: 2}, "file": {FileSize: 1 << 20}, "time": {Time: time.Millisecond}} {
		if err := fetch(l); !errors.Is(err, git.ErrTooMuch) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := fetch(git.Limits{}); err != nil {
		t.Error("control:", err)
	}
}

// security 2.6 #106: many names, and a server that does not answer.
func TestSlowAndMany(t *testing.T) {
	dir := t.TempDir()
	repo := gittest.NewIn(t, filepath.Join(dir, "repo.git"))
	id := repo.Commit(map[string]string{"SKILL.md": "a"})
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range 50_000 {
		packed.WriteString(id + " refs/heads/b" + strconv.Itoa(100_000+i) + "\n")
	}
	if err := os.WriteFile(filepath.Join(repo.Dir, "packed-refs"), []byte(packed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if tip, err := newClient(t, nil).Resolve(t.Context(), &git.Query{URL: repo.URL(), Name: "b123456", Kind: git.Branch, AllowFile: true}); err != nil || tip.Commit != id {
		t.Errorf("got %+v, %v", tip, err)
	}
	server := gittest.Serve(t, dir)
	server.Before(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	c := newClient(t, func(o *git.Options) {
		o.Env, o.Limits.Time = append(o.Env, "GIT_SSL_CAINFO="+server.CAFile), 300*time.Millisecond
	})
	begun := time.Now()
	if _, err := c.Resolve(t.Context(), query(server.URL+"/repo.git")); !errors.Is(err, git.ErrTooMuch) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

// security 2.6 #106: no process of git is left when the caller gives up.
func TestCancel(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	ssh := script(t, "(trap '' TERM; sleep 600) & echo $! > "+note+".new; mv "+note+".new "+note+"; wait\n")
	c := newClient(t, func(o *git.Options) { o.SSH = ssh })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for !exists(note) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := c.Resolve(ctx, query("ssh://git@localhost/x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is alive", pid)
}

func zombie(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(b), ") Z")
}

// security 2.6 #110: a path that leads out of the file system is not one.
func TestPathsOutside(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(map[string]string{"sub/SKILL.md": "a"})
	r := fetched(t, newClient(t, nil), repo.URL(), id, everything)
	for _, name := range []string{"sub/../../x", "../x", "/etc/passwd", "sub/../sub/SKILL.md", "", "sub/", "sub//SKILL.md"} {
		if _, err := r.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

// security 2.6 #112: git is missing, too old, not git, or one that a project supplies.
func TestWhichGit(t *testing.T) {
	project := t.TempDir()
	if err := os.Symlink("/bin/true", filepath.Join(project, "git")); err != nil {
		t.Fatal(err)
	}
	dirs, _ := program.CleanPath(project+":.:", &program.PathOptions{Project: project})
	if path, err := git.Find(dirs); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %q, %v", path, err)
	}
	if path, err := git.Find([]string{project}); err != nil || path != filepath.Join(project, "git") {
		t.Errorf("control: got %q, %v", path, err)
	}
	if _, err := git.New(&git.Options{Program: "git"}); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
	for text, want := range map[string]error{"echo git version 2.25.1": git.ErrTooOld, "echo git version 1.8.3.1": git.ErrTooOld, "exit 1": git.ErrMissing, "echo hello": nil} {
		c := newClient(t, func(o *git.Options) { o.Program = script(t, text+"\n") })
		_, err := c.Resolve(t.Context(), query("https://example.com/x"))
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	c := newClient(t, func(o *git.Options) { o.Program = filepath.Join(project, "absent") })
	if _, err := c.Resolve(t.Context(), query("https://example.com/x")); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
}
