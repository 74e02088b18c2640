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
		if err := New(&Options{Dir: dir, Wait: time.Millisecond}).Guard(t.Context(), trace.Event{Kind: trace.ToolStarting}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
