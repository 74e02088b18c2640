package envstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Any change below a folder changes its inventory, and nothing else does.
func TestInventory(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b/c", "b/d/e", "b/f/g", "h/i"} {
		write(name, "text")
	}
	seen := map[string]string{}
	look := func(change string) {
		t.Helper()
		first, err := Inventory(dir)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[first]; ok {
			t.Errorf("%s gives the inventory of %s", change, other)
		}
		seen[first] = change
		for range 20 { // whatever order its goroutines run in
			if again, err := Inventory(dir); err != nil || again != first {
				t.Fatalf("%s has several inventories: %v", change, err)
			}
		}
	}
	look("nothing")
	write("b/d/e", "next")
	look("a file")
	write("b/d/new", "")
	look("a new file")
	os.Remove(at("h/i"))
	look("a removed file")
	os.Chmod(at("a"), 0o755)
	look("a mode")
	os.Rename(at("b/f"), at("b/x"))
	look("a name")
	os.Symlink("a", at("link"))
	look("a link")
	if _, err := Inventory(at("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A place has one lock, and a record that names one of its own folders.
func TestPlace(t *testing.T) {
	p := Place{Root: filepath.Join(t.TempDir(), "root"), Key: "key"}
	unlock, err := p.Lock(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Lock(t.Context(), time.Millisecond); !errors.Is(err, lockfile.ErrLocked) {
		t.Errorf("got %v", err)
	}
	unlock()
	for name, want := range map[string]bool{"key-1": true, "other-1": false, "key-1/..": false, "key-/../..": false, "": false, "key": false} {
		if got := p.Folder(name) != ""; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	var kept, left string
	if kept, err = p.NewFolder(""); err == nil {
		left, err = p.NewFolder("work-")
	}
	if err != nil {
		t.Fatal(err)
	}
	type record struct{ Folder string }
	var r record
	if p.Read(&r) {
		t.Error("there is a record")
	}
	if err := p.Write(&record{filepath.Base(kept)}); err != nil || !p.Read(&r) || p.Folder(r.Folder) != kept {
		t.Errorf("%+v %v", r, err)
	}
	if all := Unused(p.Root, time.Now().Add(-time.Hour)); len(all) != 1 || all[0].Path != left {
		t.Errorf("got %v", all)
	}
	p.Sweep(filepath.Base(kept))
	if all := Unused(p.Root, time.Now().Add(time.Hour)); len(all) != 1 || all[0].Path != p.Path(".json") || all[0].Parts[1] != kept {
		t.Errorf("got %v", all)
	}
}
