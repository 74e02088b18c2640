package dirhash

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe, a socket and a device are named and never opened: opening a pipe would wait for ever.
func TestSpecialFiles(t *testing.T) {
	tests := []struct {
		want string
		make func(path string) error
	}{
		{`"sub/x" is a named pipe`, func(p string) error { return unix.Mkfifo(p, 0o600) }},
		{`"sub/x" is a socket`, func(p string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p})
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "sub/f", "")
			if err := tt.make(filepath.Join(dir, "sub/x")); err != nil {
				t.Fatal(err)
			}
			if _, err := Dir(t.Context(), rooted(t, dir), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}
