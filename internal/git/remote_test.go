//go:build unix

package git_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/git"
	"github.com/agent-base/agent-base/internal/test/gittest"
)

// served returns a repository and a server of it.
func served(t *testing.T) (*gittest.Repo, *gittest.Server) {
	t.Helper()
	dir := t.TempDir()
	return gittest.NewIn(t, filepath.Join(dir, "repo.git")), gittest.Serve(t, dir)
}

// trusting makes a client accept the certificate of a server, and counts the waits between attempts.
func trusting(s *gittest.Server, waits *[]time.Duration) func(*git.Options) {
	return func(o *git.Options) {
		o.Env = append(o.Env, "GIT_SSL_CAINFO="+s.CAFile)
		o.Sleep = func(_ context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return nil
		}
	}
}

func TestHTTPS(t *testing.T) {
	repo, server := served(t)
	id := repo.Commit(someFiles)
	var waits []time.Duration
	c := newClient(t, trusting(server, &waits))
	tip, err := c.Resolve(t.Context(), query(server.URL+"/repo.git"))
	if err != nil || tip.Commit != id || tip.Name != "main" {
		t.Fatalf("got %+v, %v", tip, err)
	}
	for _, filter := range []string{"true", "false"} { // a server that cannot leave out contents too
		repo.Git("config", "uploadpack.allowFilter", filter)
		r := fetched(t, c, tip.URL, id, func(p string) bool { return strings.HasPrefix(p, "skills/a/") })
		for _, p := range []string{"skills/a/SKILL.md", "skills/b/SKILL.md"} {
			if b, err := fs.ReadFile(r, p); err != nil || string(b) != someFiles[p] {
				t.Errorf("%s: got %q, %v", p, b, err)
			}
		}
	}
	if len(waits) > 0 {
		t.Errorf("waited %v", waits)
	}
}

// security 2.6 #108, R144, R191: without credentials there is an error and no question; the operator's credential helper is asked.
func TestPrivate(t *testing.T) {
	repo, server := served(t)
	repo.Commit(someFiles)
	server.Require("user", "secret")
	url := server.URL + "/repo.git"
	asked := filepath.Join(t.TempDir(), "asked")
	askpass := script(t, "touch "+asked+"\necho secret\n")
	var waits []time.Duration
	env := []string{"GIT_ASKPASS=" + askpass, "SSH_ASKPASS=" + askpass}
	c := newClient(t, func(o *git.Options) {
		trusting(server, &waits)(o)
		o.Env = append(o.Env, env...)
	})
	_, err := c.Resolve(t.Context(), query(url))
	if !errors.Is(err, git.ErrAuth) || !strings.HasPrefix(err.Error(), "Repository requires authentication") || len(waits) > 0 || exists(asked) {
		t.Errorf("got %v, waited %v, asked %v", err, waits, exists(asked))
	}
	answering := newClient(t, func(o *git.Options) {
		trusting(server, &waits)(o)
		o.AskPass = script(t, "case $1 in Username*) echo user;; *) echo secret;; esac\n")
	})
	if _, err := answering.Resolve(t.Context(), query(url)); err != nil {
		t.Errorf("with AskPass: %v", err)
	}
	if plain(t, "/", append(env, "GIT_SSL_CAINFO="+server.CAFile), "ls-remote", "https://user@"+strings.TrimPrefix(url, "https://")) != 0 || !exists(asked) {
		t.Error("control: plain git did not ask, so the test proves nothing")
	}
	withPassword := strings.Replace(server.URL, "https://", "https://user:secret@", 1)
	for name, config := range map[string]string{
		"insteadOf that adds a password": "[url \"" + withPassword + "/\"]\n insteadOf = " + server.URL + "/\n",
		"helper":                         "[credential]\n helper = \"!f() { test $1 = get && echo username=user && echo password=secret; }; f\"\n",
		"helper for host":                "[credential \"" + server.URL + "\"]\n username = user\n helper = \"!f() { echo password=secret; }; f\"\n",
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newClient(t, func(o *git.Options) {
			o.Env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
			trusting(server, &waits)(o)
		})
		tip, err := c.Resolve(t.Context(), query(url))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b, err := fs.ReadFile(fetched(t, c, url, tip.Commit, everything), "skills/a/SKILL.md"); err != nil || string(b) != "a\n" {
			t.Errorf("%s: got %q, %v", name, b, err)
		}
	}
}

// security 2.6 #97: a certificate authority of the operator's configuration is passed on, sslVerify=false is not.
func TestOwnAuthority(t *testing.T) {
	repo, server := served(t)
	repo.Commit(someFiles)
	for config, want := range map[string]error{
		"[http]\n sslVerify = false\n": git.ErrCertificate, "[http]\n sslCAInfo = " + server.CAFile + "\n": nil, "[http]\n proxy = http://127.0.0.1:1\n": git.ErrNetwork, "": git.ErrCertificate,
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newClient(t, func(o *git.Options) { o.Env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"} })
		if _, err := c.Resolve(t.Context(), query(server.URL+"/repo.git")); !errors.Is(err, want) {
			t.Errorf("%q: got %v", config, err)
		}
	}
}

// R144: the network is tried three times, with waits that double; other failures once.
func TestAttempts(t *testing.T) {
	repo, server := served(t)
	id := repo.Commit(someFiles)
	var failing, asked atomic.Int32
	server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		if asked.Add(1) <= failing.Load() {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return true
		}
		return false
	})
	for _, tt := range []struct {
		name, path string
		failing    int32
		want       error
		words      string
		waits      []time.Duration
	}{
		{"flaky", "/repo.git", 2, nil, "", []time.Duration{time.Second, 2 * time.Second}},
		{"down", "/repo.git", 100, git.ErrNetwork, "the network failed after 3 attempts", []time.Duration{time.Second, 2 * time.Second}},
		{"not found", "/absent.git", 0, git.ErrNotFound, "Repository not found: " + server.URL + "/absent.git", nil},
	} {
		var waits []time.Duration
		failing.Store(tt.failing)
		asked.Store(0)
		c := newClient(t, trusting(server, &waits))
		tip, err := c.Resolve(t.Context(), query(server.URL+tt.path))
		if !errors.Is(err, tt.want) || err == nil && tip.Commit != id || err != nil && !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: got %+v, %v", tt.name, tip, err)
		}
		if !slices.Equal(waits, tt.waits) {
			t.Errorf("%s: waited %v", tt.name, waits)
		}
	}
	var waits []time.Duration
	c := newClient(t, trusting(server, &waits))
	if _, err := c.Resolve(t.Context(), query("https://localhost:1/x")); !errors.Is(err, git.ErrNetwork) || len(waits) != 2 {
		t.Errorf("got %v, waited %v", err, waits)
	}
}

// security 2.6 #106, R144: a server that accepts connections and says nothing is given up, after less time at each new attempt.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for config, want := range map[string]string{"": "no answer within 100ms", "[http]\n\tlowSpeedTime = 1\n": "no answer within 333.3", "[http]\n\tlowSpeedTime = -1\n": "no answer within 100ms"} {
		var waits []time.Duration
		c := newClient(t, func(o *git.Options) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			o.Env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}
			o.Quiet = 300 * time.Millisecond
			o.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
		})
		var said []string
		q := query("https://" + l.Addr().String() + "/x.git")
		q.Progress = func(p git.Progress) { said = append(said, p.Step) }
		_, err := c.Resolve(t.Context(), q)
		if !errors.Is(err, git.ErrNetwork) || !strings.Contains(err.Error(), "after 3 attempts") || !strings.Contains(err.Error(), want) || len(waits) != 2 {
			t.Errorf("%q: got %v, waited %v", config, err, waits)
		}
		if want := []string{"the network failed, attempt 2 of 3", "the network failed, attempt 3 of 3"}; !slices.Equal(said, want) {
			t.Errorf("%q: said %q", config, said)
		}
	}
}

// A failure in the middle of a fetch is tried again too.
func TestFlakyFetch(t *testing.T) {
	repo, server := served(t)
	id := repo.Commit(someFiles)
	var posts atomic.Int32
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		if posts.Add(1) == 2 { // the first lists what there is
			http.Error(w, "later", http.StatusBadGateway)
			return true
		}
		return false
	})
	var waits []time.Duration
	r := fetched(t, newClient(t, trusting(server, &waits)), server.URL+"/repo.git", id, everything)
	if b, err := fs.ReadFile(r, "skills/a/SKILL.md"); err != nil || string(b) != "a\n" || len(waits) == 0 {
		t.Errorf("got %q, %v, waited %v", b, err, waits)
	}
}

func TestSSH(t *testing.T) {
	repo := gittest.New(t)
	id := repo.Commit(someFiles)
	ssh := fakeSSH(t, "")
	c := newClient(t, func(o *git.Options) { o.SSH = ssh })
	for _, url := range []string{"ssh://git@localhost:2222" + repo.Dir, "git@localhost:" + repo.Dir} {
		tip, err := c.Resolve(t.Context(), query(url))
		if err != nil || tip.Commit != id {
			t.Errorf("%s: got %+v, %v", url, tip, err)
			continue
		}
		if b, err := fs.ReadFile(fetched(t, c, url, id, everything), "skills/a/SKILL.md"); err != nil || string(b) != "a\n" {
			t.Errorf("%s: got %q, %v", url, b, err)
		}
	}
	args, err := os.ReadFile(ssh + ".args")
	if err != nil || !strings.Contains(string(args), "-oBatchMode=yes -oStrictHostKeyChecking=yes") || !strings.Contains(string(args), "-p 2222") {
		t.Errorf("got %s, %v", args, err)
	}
}

// R144: what ssh says.
func TestSSHFailures(t *testing.T) {
	for said, want := range map[string]error{
		"Host key verification failed.": git.ErrHostKey, "git@example.com: Permission denied (publickey).": git.ErrAuth, "ERROR: Repository not found.": git.ErrNotFound,
		"ssh: Could not resolve hostname example.com: Name or service not known": git.ErrNetwork, "ssh: connect to host example.com port 22: Connection timed out": git.ErrNetwork,
		"fatal: write error: No space left on device": git.ErrFull, "what else": git.ErrNetwork,
	} {
		ssh := script(t, "echo '"+said+"' >&2; exit 255\n")
		c := newClient(t, func(o *git.Options) { o.SSH = ssh })
		_, err := c.Resolve(t.Context(), query("ssh://git@example.com/x"))
		if said == "what else" {
			want = git.ErrFailed
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: got %v", said, err)
		}
	}
	c := newClient(t, func(o *git.Options) { o.SSH = "/nowhere/ssh" })
	if _, err := c.Resolve(t.Context(), query("ssh://git@example.com/x")); !errors.Is(err, git.ErrFailed) && !errors.Is(err, git.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A server of the first protocol leaves contents out, but does not give them out later: then everything is fetched. It does not
// know commits that nothing points to either.
func TestOldServer(t *testing.T) {
	repo := gittest.New(t)
	old := repo.Commit(map[string]string{"SKILL.md": "old"})
	id := repo.Commit(someFiles)
	ssh := script(t, "for last; do :; done\nunset GIT_PROTOCOL\nexec sh -c \"$last\"\n")
	c := newClient(t, func(o *git.Options) { o.SSH = ssh })
	url := "git@localhost:" + repo.Dir
	r := fetched(t, c, url, id, nil)
	if err := r.Need(t.Context(), func(p string) bool { return p == "skills/a/SKILL.md" }); err != nil {
		t.Fatal(err)
	}
	for path, want := range someFiles {
		if b, err := fs.ReadFile(r, path); err != nil || string(b) != want {
			t.Errorf("%s: got %q, %v", path, b, err)
		}
	}
	_, err := c.Fetch(t.Context(), &git.FetchOptions{URL: url, Commit: old, Dir: t.TempDir()})
	if !errors.Is(err, git.ErrName) {
		t.Errorf("got %v", err)
	}
}

func TestSHA256(t *testing.T) {
	repo := gittest.NewIn(t, filepath.Join(t.TempDir(), "repo.git"), "--object-format=sha256")
	id := repo.Commit(someFiles)
	c := newClient(t, nil)
	tip, err := c.Resolve(t.Context(), query(repo.URL()))
	if err != nil || tip.Commit != id || len(id) != 64 {
		t.Fatalf("got %+v, %v, want %s", tip, err, id)
	}
	if b, err := fs.ReadFile(fetched(t, c, repo.URL(), id, nil), "skills/a/SKILL.md"); err != nil || string(b) != "a\n" {
		t.Errorf("got %q, %v", b, err)
	}
}

// A token is sent to its host and port by https, where the host refuses without it, and not where a server sends to; it stands in no
// argument and no error.
func TestTokens(t *testing.T) {
	repo, server := served(t)
	repo.Commit(someFiles)
	var headers []string
	var mu sync.Mutex
	noted := func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		headers = append(headers, r.Header.Get("Authorization"))
		if n := len(r.Header.Values("Authorization")); n > 1 {
			t.Errorf("%d headers prove who it is", n)
		}
		return false
	}
	sent := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, h := range headers {
			if h != "" {
				n++
			}
		}
		headers = nil
		return n
	}
	server.Before(noted)
	host := strings.TrimPrefix(server.URL, "https://")
	client := func(host string) *git.Client {
		var waits []time.Duration
		return newClient(t, func(o *git.Options) {
			trusting(server, &waits)(o)
			o.Tokens = []git.Token{{Host: host, User: "oauth2", Secret: "s3cret\r\nX: y"}}
		})
	}
	url := server.URL + "/repo.git"
	if _, err := client(host).Resolve(t.Context(), query(url)); err != nil || sent() != 0 {
		t.Errorf("a public repository got the token, or failed: %v", err)
	}
	server.Require("oauth2", "s3cret\r\nX: y")
	c := client(host)
	tip, err := c.Resolve(t.Context(), query(url))
	if err != nil || sent() == 0 {
		t.Fatalf("got %v", err)
	}
	if b, err := fs.ReadFile(fetched(t, c, url, tip.Commit, everything), "skills/a/SKILL.md"); err != nil || string(b) != "a\n" {
		t.Errorf("got %q, %v", b, err)
	}
	sent()
	name, _, _ := strings.Cut(host, ":")
	for _, other := range []string{name, "h.example", name + ":1", "." + host, strings.ToUpper(host) + "."} {
		if _, err := client(other).Resolve(t.Context(), query(url)); !errors.Is(err, git.ErrAuth) || sent() != 0 {
			t.Errorf("%s: got %v", other, err)
		}
	}
	away := gittest.Serve(t, filepath.Dir(repo.Dir))
	away.Before(noted)
	server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "" {
			return false
		}
		http.Redirect(w, r, away.URL+r.URL.String(), http.StatusFound)
		return true
	})
	if _, err := client(host).Resolve(t.Context(), query(url)); err == nil || sent() != 0 || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the token went elsewhere, or is told: %v", err)
	}
	server.Before(noted)
	server.Require("oauth2", "another")
	if _, err := client(host).Resolve(t.Context(), query(url)); !errors.Is(err, git.ErrAuth) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	home := t.TempDir() // the operator's own header goes before it: two would be refused
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[http \""+server.URL+"/\"]\n extraHeader = Authorization: basic eDp5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	own := newClient(t, func(o *git.Options) {
		trusting(server, &waits)(o)
		o.Env = append([]string{"HOME=" + home}, o.Env[1:]...)
		o.Tokens = []git.Token{{Host: host, User: "oauth2", Secret: "another"}}
	})
	if _, err := own.Resolve(t.Context(), query(url)); !errors.Is(err, git.ErrAuth) {
		t.Errorf("with a header of the operator: got %v", err)
	}
}
