package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

func opened(t *testing.T, b *bashHome) *place {
	t.Helper()
	at, err := b.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func write(t *testing.T, text string, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// found returns the paths of files in a folder, without following links.
func found(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// attacks-two H3: a conversation begins with an empty home, also after one that was killed; the caches of its project last.
func TestBashHome(t *testing.T) {
	cache := t.TempDir()
	first, second := newBashHome(cache, "/work/one", 0), newBashHome(cache, "/work/one", 0)
	a, b := opened(t, first), opened(t, second)
	if a.home == b.home || a.temp == b.temp || !slices.Equal(a.caches, b.caches) {
		t.Errorf("two conversations have %+v and %+v", a, b)
	}
	if again := opened(t, first); again != a {
		t.Error("a second call makes another home")
	}
	for _, dir := range []string{a.root, a.home, a.temp, first.project, a.caches[0]} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	for _, name := range []string{".gitconfig", ".npmrc", ".bashrc", ".local/bin/ls", ".local/lib/python3.11/site-packages/evil.pth", "go/bin/tool", ".cargo/bin/cargo", ".cargo/config.toml", ".cache/other", ".npm/_npx/x"} {
		write(t, "planted", a.home, name)
	}
	write(t, "kept", a.home, "go/pkg/mod/cache/x")
	first.free() // it is killed
	half := filepath.Join(first.project, discardedPrefix+"1")
	write(t, "x", half, "file") // another was killed while it removed its home
	write(t, "alive", b.home, "stash")

	third := opened(t, newBashHome(cache, "/work/one", 0))
	if got := found(t, third.home); !slices.Equal(got, slices.Sorted(slices.Values(storedFolders))) {
		t.Errorf("a new home has %q", got)
	}
	if third.home != a.home || !exists(filepath.Join(b.home, "stash")) {
		t.Errorf("the new home is %s after %s, and that which runs has its file: %v", third.home, a.home, exists(filepath.Join(b.home, "stash")))
	}
	if text, err := os.ReadFile(filepath.Join(third.home, "go/pkg/mod/cache/x")); err != nil || string(text) != "kept" {
		t.Errorf("the cache has %q, %v", text, err)
	}
	if exists(half) {
		t.Error("a home that was half removed stays")
	}
	other := opened(t, newBashHome(cache, "/work/two", 0))
	if exists(filepath.Join(other.home, "go/pkg/mod/cache/x")) || other.caches[0] == a.caches[0] {
		t.Error("another project has the same caches")
	}
	second.close()
	second.close()
	if exists(b.root) {
		t.Error("a home stays after its conversation")
	}
}

// Many conversations of one project begin and end at the same time.
func TestBashHomesAtOnce(t *testing.T) {
	cache := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				b := newBashHome(cache, "/work", 1<<30)
				at, err := b.open(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(at.home, ".cache/pip/x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				b.close()
			}
		})
	}
	all.Wait()
}

// A home that is full is empty afterwards, and caches that take half of the room go.
func TestBashHomeIsFull(t *testing.T) {
	b := newBashHome(t.TempDir(), "/work", 1<<20)
	at := opened(t, b)
	write(t, "x", at.home, "file")
	b.empty()
	if exists(filepath.Join(at.home, "file")) || !exists(filepath.Join(at.home, ".cache/uv")) {
		t.Error("the home is not as at the beginning")
	}
	small := write(t, "x", at.home, ".cache/uv/small")
	b.empty()
	if !exists(small) {
		t.Error("a small cache has gone")
	}
	write(t, strings.Repeat("x", 1<<19), at.home, ".cache/uv/large")
	b.empty()
	if exists(small) || !exists(filepath.Join(at.home, ".cache/uv/")) {
		t.Error("a large cache stays, or its folder has gone")
	}
}

// A project that nobody works on has no caches after a while.
func TestBashHomeForgets(t *testing.T) {
	cache := t.TempDir()
	old, used := newBashHome(cache, "/old", 0), newBashHome(cache, "/used", 0)
	opened(t, old)
	opened(t, used)
	old.close()
	used.close()
	shared := write(t, "not ours", cache, "bash/home/x")
	past := t.TempDir() // any time will do that is long ago
	info, err := os.Stat(past)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(old.project, homeLock), info.ModTime(), info.ModTime().Add(-homeUnused*2)); err != nil {
		t.Fatal(err)
	}
	opened(t, newBashHome(cache, "/new", 0))
	if exists(old.project) || !exists(used.project) || !exists(shared) {
		t.Errorf("old: %v, used: %v, other: %v", exists(old.project), exists(used.project), exists(shared))
	}
}

// attacks-two M2: a command of bash has every limit unless the settings say otherwise.
func TestBashLimits(t *testing.T) {
	cfg, _ := config.Load(&config.Options{Home: t.TempDir(), Dir: t.TempDir()})
	l := bashLimits(cfg)
	if l.FileSize == 0 || l.OpenFiles == 0 || l.Memory == 0 || l.Processes == 0 || l.Disk == 0 || l.Files == 0 {
		t.Errorf("got %+v", l)
	}
}
