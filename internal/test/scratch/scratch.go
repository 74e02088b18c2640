// Package scratch makes folders for tests that the engine puts its sealed copies into. Those are read-only, so that
// t.TempDir cannot remove them again unless root runs the test. It is for tests alone.
package scratch

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Dir is t.TempDir, and what lies in it can be removed at the end by whoever made it.
func Dir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { // before t.TempDir removes it
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return nil
		})
	})
	return dir
}
