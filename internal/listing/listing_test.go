package listing_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/listing"
)

func TestList(t *testing.T) {
	dir, err := os.MkdirTemp("", "l") // a short path: the name of a socket has little room
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	want := map[string]fs.FileMode{"d": fs.ModeDir, ".h": 0}
	for i := range 3000 { // more than one read
		want[fmt.Sprintf("file%d%s", i, strings.Repeat("x", 40))] = 0
	}
	for name, kind := range want {
		path := filepath.Join(dir, name)
		if kind == fs.ModeDir {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		s, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := os.Symlink("d", filepath.Join(dir, "l")); err != nil {
			t.Fatal(err)
		}
		want["s"], want["l"] = fs.ModeSocket, fs.ModeSymlink
	}
	var l listing.Lister
	for range 2 {
		got := map[string]fs.FileMode{}
		if err := l.List(dir, func(name string, kind fs.FileMode) bool { got[name] = kind; return true }); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Errorf("%d names, want %d", len(got), len(want))
		}
		for name, kind := range want {
			if had, ok := got[name]; !ok || had != kind {
				t.Errorf("%s: %v, listed: %v; want %v", name, had, ok, kind)
			}
		}
	}
	visited := 0
	if err := l.List(dir, func(string, fs.FileMode) bool { visited++; return visited < 5 }); err != nil || visited != 5 {
		t.Errorf("%d visits, %v; want an end after 5", visited, err)
	}
	none := func(name string, _ fs.FileMode) bool { t.Errorf("visits %s", name); return true }
	if err := l.List(filepath.Join(dir, "missing"), none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	for _, name := range []string{".h", "l"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && l.List(filepath.Join(dir, name), none) == nil {
			t.Errorf("%s is listed", name)
		}
	}
}
