//go:build unix

package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// owned is a file with an owner, a group and a mode.
type owned struct {
	fs.FileInfo
	uid, gid uint32
	mode     fs.FileMode
}

func (o owned) Sys() any          { return &syscall.Stat_t{Uid: o.uid, Gid: o.gid} }
func (o owned) Mode() fs.FileMode { return o.mode }

func TestCheckOwner(t *testing.T) { // F5
	me := uint32(os.Geteuid())
	for _, c := range []struct {
		name string
		file owned
		want string
	}{
		{"mine", owned{uid: me, gid: me, mode: 0o644}, ""},
		{"root's", owned{mode: 0o644}, ""},
		{"another's", owned{uid: me + 1, gid: me, mode: 0o600}, `"f" belongs to another user`},
		{"for all", owned{uid: me, gid: me, mode: 0o666}, `"f" is writable by other users (mode 0666)`},
		{"for a group", owned{uid: me, gid: me + 1, mode: 0o664}, `"f" is writable by other users (mode 0664)`},
		{"for the user's own group", owned{uid: me, gid: me, mode: 0o664}, ""},
	} {
		got := ""
		if err := CheckOwner("f", c.file); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := Owned(c.file); got != (c.name != "another's") {
			t.Errorf("%s: Owned is %v", c.name, got)
		}
	}
}

// A file is refused for its own mode, that of its folder, and that of the folder of a link's target.
func TestReadPrivate(t *testing.T) { // F5
	for _, c := range []struct{ name, open, want string }{
		{"all closed", "", ""},
		{"the file", "home/f", "home/f"},
		{"its folder", "home", "home"},
		{"the link's target", "dots/f", "home/link"},
		{"the target's folder", "dots", "dots"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, d := range []string{"home", "dots"} {
				must(t, os.Mkdir(filepath.Join(dir, d), 0o700))
				must(t, os.WriteFile(filepath.Join(dir, d, "f"), []byte("x"), 0o600))
			}
			must(t, os.Symlink("../dots/f", filepath.Join(dir, "home", "link")))
			if c.open != "" {
				must(t, os.Chmod(filepath.Join(dir, c.open), 0o777))
			}
			got := ""
			for _, name := range []string{"f", "link"} {
				path := filepath.Join(dir, "home", name)
				_, err := ReadPrivate(path, 0)
				changed := transform(t.Context(), path, &File{Private: true}, func(old []byte) ([]byte, error) { return append(old, 'y'), nil })
				if (err == nil) != (changed == nil) {
					t.Errorf("ReadPrivate: %v, Transform: %v", err, changed)
				}
				var unsafe *UnsafeError
				if got == "" && errors.As(err, &unsafe) {
					got, _ = filepath.Rel(dir, unsafe.Path)
				}
			}
			if got != c.want {
				t.Errorf("refused because of %q, want %q", got, c.want)
			}
		})
	}
}

// The first write into a folder that others may write to is refused, too: the file would not be read afterwards.
func TestTransformPrivateFolder(t *testing.T) { // F5
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	path := filepath.Join(dir, "f")
	err := transform(t.Context(), path, &File{Private: true}, func([]byte) ([]byte, error) { return []byte("x"), nil })
	if !errors.As(err, new(*UnsafeError)) {
		t.Errorf("got %v, want an *UnsafeError", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file: %v, want none", err)
	}
}

// A lock that is a link is refused, and what it leads to is not made.
func TestLockIsNoLink(t *testing.T) { // F20
	dir := t.TempDir()
	must(t, os.Symlink("elsewhere", filepath.Join(dir, "f.lock")))
	if unlock, err := Lock(t.Context(), filepath.Join(dir, "f.lock"), 0); err == nil {
		unlock()
		t.Error("a lock that is a link was taken")
	}
	if err := transform(t.Context(), filepath.Join(dir, "f"), nil, func([]byte) ([]byte, error) { return []byte("x"), nil }); err == nil {
		t.Error("a file was changed under a lock that is a link")
	}
	if _, err := os.Lstat(filepath.Join(dir, "elsewhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the target of the link: %v, want none", err)
	}
}

// ReadIn follows a link inside the folder and none that leads out.
func TestReadIn(t *testing.T) { // F11
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "outside"), []byte("secret"), 0o600))
	in := filepath.Join(dir, "in")
	must(t, os.Mkdir(in, 0o700))
	must(t, os.WriteFile(filepath.Join(in, "f"), []byte("x"), 0o600))
	must(t, os.Symlink("f", filepath.Join(in, "link")))
	must(t, os.Symlink("../outside", filepath.Join(in, "out")))
	root, err := os.OpenRoot(in)
	must(t, err)
	defer root.Close()
	for name, want := range map[string]string{"f": "x", "link": "x", "out": ""} {
		got, err := ReadIn(root, name, 0)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("ReadIn(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
