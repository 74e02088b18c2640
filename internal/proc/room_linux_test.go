package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that a process made unreadable hides nothing, also below another such folder.
func TestRoomHidden(t *testing.T) {
	for _, mode := range []os.FileMode{0, 0o200, 0o300, 0o400, 0o600} {
		dir := t.TempDir()
		deep := filepath.Join(dir, "a", "b")
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(deep, "file"), make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		outside := filepath.Join(t.TempDir(), "closed")
		if err := os.Mkdir(outside, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{deep, filepath.Dir(deep), dir} {
			if err := os.Chmod(p, mode); err != nil {
				t.Fatal(err)
			}
		}
		asOrdinaryUser(t, dir, func() {
			for bytes, want := range map[uint64]bool{99: true, 100: false} {
				if got := (&Room{Folders: []string{dir}, Bytes: bytes}).Exceeded(); got != want {
					t.Errorf("mode %o, %d bytes: got %v", mode, bytes, got)
				}
			}
		})
		if info, err := os.Lstat(outside); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %o: what a link leads to was changed: %v, %v", mode, info, err)
		}
	}
}

// What is closed again while it is measured is too much. What this user may not open is left alone.
func TestRoomClosedAgain(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(own))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{own: true, filepath.Join(own, "file"): true, "/proc/self/fd": false} {
		m := &measure{room: &Room{Bytes: 1 << 40}, above: "/"}
		d := entries[0]
		if filepath.Dir(path) == own {
			d = file{d}
		}
		if _ = m.visit(path, denied{d}, nil); m.over != want {
			t.Errorf("%s: got %v", path, m.over)
		}
	}
}

// denied is an entry that nothing can be learned of.
type denied struct{ os.DirEntry }

func (denied) Info() (os.FileInfo, error) { return nil, os.ErrPermission }

// file is an entry that is no folder.
type file struct{ os.DirEntry }

func (file) IsDir() bool { return false }

// asOrdinaryUser runs do with the rights of a user that owns what is in dir, and is not root.
func asOrdinaryUser(t *testing.T, dir string, do func()) {
	t.Helper()
	const nobody = 65534
	if os.Getuid() == 0 {
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		err := filepath.Walk(dir, func(p string, _ os.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(p, nobody, nobody)
		})
		if err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		unix.Syscall(unix.SYS_SETFSUID, nobody, 0, 0)
		defer unix.Syscall(unix.SYS_SETFSUID, 0, 0, 0)
	}
	do()
}
