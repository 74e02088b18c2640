//go:build unix

package audit

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// The folder is not one that others may write to, and the file is not a link or a pipe.
func TestUnsafePlaces(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"shared folder": func(dir string) error { return os.Chmod(dir, 0o777) },
		"link out":      func(dir string) error { return os.Symlink("/dev/null", filepath.Join(dir, currentName)) },
		"pipe":          func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, currentName), 0o600) },
		"hard link": func(dir string) error {
			other := filepath.Join(filepath.Dir(dir), "other")
			return errors.Join(os.WriteFile(other, nil, 0o600), os.Link(other, filepath.Join(dir, currentName)))
		},
		"lock is link": func(dir string) error { return os.Symlink("x", filepath.Join(dir, lockName)) },
		"relative":     nil,
	} {
		dir := filepath.Join(t.TempDir(), "audit")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if spoil == nil {
			dir = "audit"
		} else if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if err := New(&Options{Dir: dir, wait: time.Millisecond}).Guard(t.Context(), trace.Event{Kind: trace.ToolStarting}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What lies in the place of the files is looked at before each record: the log stays open in between.
func TestReplacedFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	file, other := filepath.Join(dir, currentName), filepath.Join(filepath.Dir(dir), "other")
	l := New(&Options{Dir: dir, wait: time.Millisecond})
	write := func() error { return l.Guard(t.Context(), trace.Event{Kind: trace.ToolStarting}) }
	for _, c := range []struct {
		name  string
		spoil func() error
		fails bool
	}{
		{"nothing", func() error { return nil }, false},
		{"hard link", func() error { return os.Link(file, other) }, true},
		{"no hard link any more", func() error { return os.Remove(other) }, false},
		{"other file", func() error { return os.Rename(file, other) }, false},
		{"link", func() error { return errors.Join(os.Remove(file), os.Symlink(other, file)) }, true},
		{"no link any more", func() error { return os.Remove(file) }, false},
		{"shared folder", func() error { return os.Chmod(dir, 0o777) }, true},
		{"other folder", func() error { return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700)) }, false},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		if err := write(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if !c.fails && len(records(t, dir)) == 0 {
			t.Errorf("%s: there are no records", c.name)
		}
	}
}
