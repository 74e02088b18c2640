package lockfile

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder that the user may not write to is named, with the reason. The thread that asks has another user for file
// accesses, and ends with the goroutine.
func TestReadOnlyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sub")
	if err := os.Mkdir(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			os.Chmod(filepath.Dir(dir), 0o755) // the two folders of t.TempDir
			os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755)
			unix.Syscall(unix.SYS_SETFSUID, 65534, 0, 0)
		}
		done <- transform(t.Context(), path, nil, to("a"))
	}()
	err := <-done
	checkError(t, err, "not writable by this user")
	checkError(t, err, dir)
	checkFiles(t, dir)
}

// A pipe in the place of the file is refused at once.
func TestPipeDoesNotHang(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Read(path, 0)
	checkError(t, err, "not a regular file")
	checkError(t, transform(t.Context(), path, nil, to("a")), "not a regular file")
}
