package worker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script"
)

// homeOf returns the home of the next process of a conversation.
func homeOf(cache, id string) *bashHome {
	b := newBashHome(cache, "/work", 1<<20)
	b.id = func() string { return id }
	return b
}

// C76: a conversation that continues finds its temporary files, and those of its skills, and nothing else of its home.
func TestTempsAreKept(t *testing.T) {
	cache := t.TempDir()
	b := homeOf(cache, "agent-1")
	at := opened(t, b)
	if at.kept || b.lasts(t.Context()) != true {
		t.Errorf("a new conversation: kept %t", at.kept)
	}
	write(t, "mine", at.temp, "file")
	write(t, "of a skill", at.root, "0123abcd", "file")
	write(t, "x", at.home, ".bashrc")
	write(t, "x", at.root, keysPrefix+"1", "socket")
	b.close()

	for name, other := range map[string]*bashHome{"another": homeOf(cache, "agent-2"), "an unsaved one": homeOf(cache, ""), "one that begins with its name": homeOf(cache, "agent-12")} {
		if at := opened(t, other); at.kept || exists(filepath.Join(at.temp, "file")) {
			t.Errorf("%s has the files", name)
		}
		other.close()
	}
	b = homeOf(cache, "agent-1")
	if !b.lasts(t.Context()) {
		t.Error("nothing was kept")
	}
	at = opened(t, b)
	if got := found(t, at.temp); !slices.Equal(got, []string{"file"}) || !exists(filepath.Join(at.root, "0123abcd/file")) {
		t.Errorf("temporary files: %q", got)
	}
	if exists(filepath.Join(at.home, ".bashrc")) || exists(filepath.Join(at.root, keysPrefix+"1")) {
		t.Error("the home was kept, too")
	}
	b.free() // it is killed
	b = homeOf(cache, "agent-1")
	if at := opened(t, b); !at.kept || !exists(filepath.Join(at.temp, "file")) {
		t.Error("after a kill the files are gone")
	}
	b.close()
	forgetTemps(t.Context(), cache, "agent-1")
	if homeOf(cache, "agent-1").lasts(t.Context()) {
		t.Error("a conversation that was removed has its files")
	}
}

// Killed while it took what was kept, a conversation has all of it the next time.
func TestKilledWhileItTakesTemps(t *testing.T) {
	cache := t.TempDir()
	b := homeOf(cache, "agent-1")
	at := opened(t, b)
	write(t, "mine", at.temp, "file")
	b.free()
	write(t, "of a skill", b.project, keptPrefix+"agent-1", "0123abcd", "file")
	at = opened(t, homeOf(cache, "agent-1"))
	if !at.kept || !exists(filepath.Join(at.temp, "file")) || !exists(filepath.Join(at.root, "0123abcd/file")) {
		t.Errorf("kept %t, %q", at.kept, found(t, at.root))
	}
}

// What is kept is bounded in time and size, whatever its modes are, and no link leads out.
func TestKeptIsBounded(t *testing.T) {
	cache, outside := t.TempDir(), t.TempDir()
	write(t, "x", outside, "file")
	keep := func(id string, bytes int) string {
		b := homeOf(cache, id)
		b.disk = 0 // no limit yet
		at := opened(t, b)
		write(t, string(make([]byte, bytes)), at.temp, "deep", "file")
		if err := os.Symlink(outside, filepath.Join(at.temp, "link")); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{filepath.Join(at.temp, "deep"), at.temp} {
			if err := os.Chmod(dir, 0); err != nil {
				t.Fatal(err)
			}
		}
		b.close()
		return filepath.Join(b.project, keptPrefix+id)
	}
	age := func(path string, by time.Duration) {
		was := time.Now().Add(-by)
		if err := os.Chtimes(path, was, was); err != nil {
			t.Fatal(err)
		}
	}
	large, old, small := keep("agent-1", 1<<20), keep("agent-2", 1), keep("agent-3", 1)
	age(large, 2*time.Hour)
	age(small, time.Hour)
	age(old, keptTime+time.Minute)
	gone := func() []script.Swept { return OldTemps(t.Context(), cache, false) }
	if list := gone(); len(list) != 1 || list[0].Bytes != 1 || filepath.Base(list[0].Path) != keptPrefix+"agent-2" || !exists(old) {
		t.Errorf("would be removed: %+v", list)
	}
	opened(t, homeOf(cache, "agent-4"))
	if exists(large) || exists(old) || !exists(small) {
		t.Errorf("too large %t, old %t, the last %t", exists(large), exists(old), exists(small))
	}
	if !exists(filepath.Join(outside, "file")) {
		t.Error("what a link leads to was removed")
	}
	age(small, keptTime+time.Minute)
	if other := newBashHome(cache, "/other", 0); opened(t, other).root == "" || exists(small) {
		t.Error("another project's old files stay")
	}
	if list := gone(); len(list) != 0 {
		t.Errorf("would be removed: %+v", list)
	}
}

// A home that a killed process left is named before it is removed; what is kept of it stays.
func TestOldTemps(t *testing.T) {
	cache := t.TempDir()
	b := homeOf(cache, "agent-1")
	at := opened(t, b)
	write(t, "mine", at.temp, "file")
	if list := OldTemps(t.Context(), cache, true); len(list) != 0 || !exists(at.root) {
		t.Errorf("of one that runs: %+v", list)
	}
	b.free()
	if list := OldTemps(t.Context(), cache, true); len(list) != 1 || filepath.Base(list[0].Path) != filepath.Base(at.root) || exists(at.root) {
		t.Errorf("of a killed one: %+v", list)
	}
	if !homeOf(cache, "agent-1").lasts(t.Context()) {
		t.Error("its temporary files are gone")
	}
}
