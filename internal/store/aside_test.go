package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/store"
)

// A version that is set aside is out of the store, and its owner may write to all of it. One that something runs stays.
func TestSetAside(t *testing.T) {
	d := &store.Dir{Root: t.TempDir(), Wait: time.Second}
	path, s := keep(t, d, "one", "text")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(d.Root, "backup", "one")
	release, err := d.Lease(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := d.SetAside(t.Context(), path, to); moved || err != nil || exists(to) {
		t.Errorf("leased: moved %t, %v", moved, err)
	}
	release()
	if moved, err := d.SetAside(t.Context(), path, to); !moved || err != nil || exists(path) {
		t.Fatalf("moved %t, %v", moved, err)
	}
	for name, mode := range map[string]os.FileMode{"": 0o700, "scripts": 0o700, "SKILL.md": 0o600, "scripts/a.sh": 0o600} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm()&mode != mode {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	other, s := keep(t, d, "two", "text")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if moved, err := d.SetAside(t.Context(), other, to); moved || err == nil || !exists(other) {
		t.Errorf("over another folder: moved %t, %v", moved, err)
	}
	if moved, err := d.SetAside(t.Context(), filepath.Join(d.Root, "elsewhere"), to+"2"); moved || err == nil {
		t.Errorf("a folder that is none of the store's: moved %t, %v", moved, err)
	}
}

// The errors say which folder is meant, what is wrong with it, and what caused that.
func TestErrorTexts(t *testing.T) {
	d := &store.Dir{Root: t.TempDir()}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&store.SpaceError{Dir: "/s", Need: 9, Free: 4}, `9 bytes are needed at "/s" and 4 are free: make room and try again`},
		{&store.IntegrityError{Path: "/s/a", Want: "sha256:1", Got: "sha256:2"}, `integrity: "/s/a" has the content sha256:2 and not sha256:1`},
		{&store.IntegrityError{Path: "/s/a", Want: "sha256:1", Err: fs.ErrNotExist}, `does not have the content sha256:1: file does not exist`},
	} {
		if got := tt.err.Error(); !strings.HasSuffix(got, tt.want) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	if err := store.Verify(t.Context(), filepath.Join(d.Root, "none"), "sha256:1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for _, bad := range [][2]string{{"../x", "sha256:" + strings.Repeat("a", 64)}, {"x", "sha256:a"}, {"x", strings.Repeat("a", 64)}, {"x", "sha256:" + strings.Repeat("A", 64)}} {
		if path, err := d.Path(bad[0], bad[1]); err == nil {
			t.Errorf("%q has the path %s", bad, path)
		}
	}
	if _, err := d.Lease(t.Context(), d.Root); err == nil {
		t.Error("a folder that is none of the store's is leased")
	}
	if _, err := (&store.Dir{Root: "relative"}).Stage(t.Context()); err == nil {
		t.Error("a relative root is used")
	}
}
