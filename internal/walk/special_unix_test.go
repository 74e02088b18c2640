//go:build unix

package walk

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// IX1, security 2.3 #36, #37: pipes, sockets and devices are refused at once.
func TestSpecialFiles(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"pipe/": "", "good/SKILL.md": "x", "device": "-> /dev", "sock/": ""})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe", "SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "sock")) // a socket's path is short
	l, err := net.Listen("unix", "SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	start := time.Now()
	got := walked(t, root, Options{Nested: true}, nil)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	check(t, got, `good SKILL.md ok "x"`, "pipe SKILL.md not a regular file", "sock SKILL.md error",
		`note 0 device: symbolic link leads out of the skills folder, to "/dev"`)
	// Known again, it is not opened a second time.
	check(t, walked(t, root, Options{Nested: true}, got.stamp), `good SKILL.md ok same`, "pipe SKILL.md ok same", "sock SKILL.md ok same",
		`note 0 device: symbolic link leads out of the skills folder, to "/dev"`)
}

// security 2.1 #2: a sparse file of a terabyte is refused by its size.
func TestSparse(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"a/SKILL.md": "x"})
	if err := os.Truncate(filepath.Join(root, "a", "SKILL.md"), 1<<40); err != nil {
		t.Fatal(err)
	}
	check(t, walked(t, root, Options{}, nil), "a SKILL.md file is too big")
	for _, portable := range []bool{false, true} {
		r, err := Open(root, &Options{MaxSize: 10, Portable: portable})
		if err != nil {
			t.Fatal(err)
		}
		f, err := r.Folder("a")
		if err != nil {
			t.Fatal(err)
		}
		want := "file is too big: 1099511627776 bytes, at most 10 are read"
		if _, _, err := f.Manifest(Manifest); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		f.Close()
		r.Close()
	}
}

// Neither file system waits for who writes to a pipe.
func TestFSPipe(t *testing.T) { // security 2.3
	root := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	fast, slow := both(t, root)
	for _, f := range []FS{fast, slow} {
		file, err := f.Open("pipe")
		if err != nil {
			t.Fatalf("%T: %v", f, err)
		}
		if info, err := file.Stat(); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Errorf("%T: Stat = %v, %v, want a pipe", f, info, err)
		}
		file.Close()
	}
}
