package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/store"
)

// write makes a folder with files and returns its digest.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sum, err := dirhash.Dir(t.Context(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sum.Digest
}

// keep puts a skill into the store and returns its path, and what closes its stage.
func keep(t *testing.T, d *store.Dir, name, text string) (string, *store.Stage) {
	t.Helper()
	s, err := d.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	digest := write(t, filepath.Join(s.Dir, name), map[string]string{"SKILL.md": text, "scripts/a.sh": "echo"})
	path, err := s.Keep(t.Context(), name, name, digest)
	if err != nil {
		t.Fatal(err)
	}
	return path, s
}

func none(context.Context) (func(string) bool, error) {
	return func(string) bool { return false }, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// security 2.9 #137: what is kept has all its files, is read-only, and is removed only when nobody wants it.
// A store that cannot be written to says so.
func TestReadOnly(t *testing.T) {
	if os.Geteuid() <= 0 {
		t.Skip("needs a user whom modes bind")
	}
	d := &store.Dir{Root: t.TempDir()}
	s, err := d.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(store.Folder(d.Root), ".stage")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700) // so that it can be removed
	if _, err := d.Stage(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Error(err)
	}
}

func TestKeep(t *testing.T) {
	d := &store.Dir{Root: t.TempDir(), Wait: time.Second}
	path, s := keep(t, d, "one", "text")
	if want := filepath.Join(d.Root, ".store"); !strings.HasPrefix(path, want) || !d.Has(path) || filepath.Base(path) != "one" {
		t.Errorf("path %q", path)
	}
	info, err := os.Stat(filepath.Join(path, "scripts", "a.sh"))
	if err != nil || info.Mode().Perm()&0o222 != 0 {
		t.Errorf("got %v, %v", info, err)
	}
	for _, dir := range []string{path, filepath.Join(path, "scripts")} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("%s: got %v, %v", dir, info.Mode(), err)
		}
	}
	if _, err := d.Sweep(t.Context(), none, nil); !errors.Is(err, store.ErrLocked) {
		t.Errorf("swept while an installation goes on: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Sweep(t.Context(), func(context.Context) (func(string) bool, error) {
		return func(p string) bool { return p == path }, nil
	}, nil); err != nil || len(r.Removed) != 0 || !exists(path) {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := d.Sweep(t.Context(), none, nil); err != nil || len(r.Removed) != 1 || exists(path) || exists(filepath.Dir(path)) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// security 2.9 #140: a version that something runs is removed later.
func TestLeaseKeepsAVersion(t *testing.T) {
	d := &store.Dir{Root: t.TempDir(), Wait: time.Second}
	path, s := keep(t, d, "one", "text")
	s.Close()
	release, err := d.Lease(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := d.Remove(t.Context(), path); removed || err != nil || !exists(path) {
		t.Errorf("got %v, %v", removed, err)
	}
	if r, err := d.Sweep(t.Context(), none, nil); err != nil || len(r.Postponed) != 1 || !exists(path) {
		t.Errorf("got %+v, %v", r, err)
	}
	release()
	if removed, err := d.Remove(t.Context(), path); !removed || err != nil || exists(path) {
		t.Errorf("got %v, %v", removed, err)
	}
	if _, err := d.Lease(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// security 2.9 #136: a content that is not what its digest says is neither kept nor used.
func TestIntegrity(t *testing.T) {
	d := &store.Dir{Root: t.TempDir(), Wait: time.Second}
	path, s := keep(t, d, "one", "text")
	s.Close()
	os.Chmod(filepath.Join(path, "SKILL.md"), 0o644)
	if err := os.WriteFile(filepath.Join(path, "SKILL.md"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := d.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	digest := write(t, filepath.Join(s.Dir, "x"), map[string]string{"SKILL.md": "text", "scripts/a.sh": "echo"})
	var wrong *store.IntegrityError
	if _, err := s.Keep(t.Context(), "x", "one", digest); !errors.As(err, &wrong) || wrong.Path != path {
		t.Errorf("got %v", err)
	}
	if _, err := s.Keep(t.Context(), "x", "one", "sha256:"+strings.Repeat("0", 64)); !errors.As(err, &wrong) || wrong.Got != digest {
		t.Errorf("got %v", err)
	}
}

// security 2.9 #141: a file that is changed and has its old size and time is noticed.
func TestVerifyDoesNotTrustTimes(t *testing.T) {
	dir := t.TempDir()
	digest := write(t, dir, map[string]string{"SKILL.md": "text"})
	file := filepath.Join(dir, "SKILL.md")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"SKILL.md": "tExt"})
	if err := os.Chtimes(file, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	var wrong *store.IntegrityError
	if err := store.Verify(t.Context(), dir, digest); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
}

// R145: what does not fit is refused, and little free space is reported.
func TestSpace(t *testing.T) {
	d := &store.Dir{Root: filepath.Join(t.TempDir(), "not", "there")}
	s, err := d.Space(1)
	if err != nil || s.Free <= 0 {
		t.Fatalf("got %+v, %v", s, err)
	}
	if s, err := d.Space(s.Free - 1); err != nil && !s.Low {
		t.Errorf("got %+v, %v", s, err)
	}
	var full *store.SpaceError
	if _, err := d.Space(1 << 62); !errors.As(err, &full) {
		t.Errorf("got %v", err)
	}
}

// Every folder is verified, and the errors are in the order of the folders.
func TestVerifyAll(t *testing.T) {
	var list []store.Content
	root := t.TempDir()
	for i := range 350 {
		dir := filepath.Join(root, fmt.Sprint(i))
		list = append(list, store.Content{Path: dir, Digest: write(t, dir, map[string]string{"SKILL.md": fmt.Sprint(i)})})
	}
	write(t, list[7].Path, map[string]string{"SKILL.md": "changed"})
	write(t, list[300].Path, map[string]string{"more.pyc": ""})
	os.RemoveAll(list[349].Path)
	for i, err := range store.VerifyAll(t.Context(), list) {
		var wrong *store.IntegrityError
		if bad := i == 7 || i == 300 || i == 349; bad != errors.As(err, &wrong) || bad && wrong.Path != list[i].Path {
			t.Errorf("%d: got %v", i, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all := store.VerifyAll(ctx, list); !errors.Is(all[0], context.Canceled) {
		t.Errorf("got %v", all[0])
	}
}

func sha(s string) [sha256.Size]byte { return sha256.Sum256([]byte(s)) }
