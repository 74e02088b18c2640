package proc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRoom(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "sub/b", "sub/c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(other, "link")); err != nil { // it is counted and not followed
		t.Fatal(err)
	}
	both := []string{dir, other, filepath.Join(dir, "absent")}
	for _, tt := range []struct {
		bytes, files uint64
		want         bool
	}{{0, 0, false}, {300, 0, false}, {299, 0, true}, {0, 8, false}, {0, 7, true}, {1 << 40, 100, false}} {
		r := Room{Folders: both, Bytes: tt.bytes, Files: tt.files}
		if got := r.Exceeded(); got != tt.want {
			t.Errorf("%d bytes, %d files: got %v", tt.bytes, tt.files, got)
		}
	}
}

// Of a folder that is stored only the bytes count, and each file for a block of the disk at least.
func TestRoomStored(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		bytes, files uint64
		want         bool
	}{{0, 1, false}, {3 * 4096, 1, false}, {3*4096 - 1, 0, true}} {
		r := Room{Stored: []string{dir}, Bytes: tt.bytes, Files: tt.files}
		if got := r.Exceeded(); got != tt.want {
			t.Errorf("%d bytes, %d files: got %v", tt.bytes, tt.files, got)
		}
	}
}

// security 2.15 SB11: what lies below a path that nobody can name is not missed.
func TestRoomTooDeep(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("d", 200)
	for range 25 {
		if err := root.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := root.OpenRoot(name)
		root.Close()
		if err != nil {
			t.Fatal(err)
		}
		root = next
	}
	root.Close()
	if r := (Room{Folders: []string{dir}, Bytes: 1 << 40, Files: 1 << 40}); !r.Exceeded() {
		t.Error("not noticed")
	}
}

// stuck is a process that only Kill ends.
type stuck struct{ killed chan struct{} }

func (s *stuck) Wait()      { <-s.killed }
func (s *stuck) Terminate() {}
func (s *stuck) Kill()      { close(s.killed) }

func TestSuperviseRoom(t *testing.T) {
	dir := t.TempDir()
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = os.WriteFile(filepath.Join(dir, "big"), make([]byte, 100), 0o600)
	}()
	p := &stuck{make(chan struct{})}
	e, err := Supervise(context.Background(), p, &Bounds{Timeout: time.Minute, Grace: time.Minute, Room: Room{Folders: []string{dir}, Bytes: 99}})
	if err != nil || e != (Ending{Filled: true}) {
		t.Errorf("got %+v, %v", e, err)
	}
}
