// Package scratch creates temporary folders for tests in which the engine stores sealed copies. The copies are read-only,
// so t.TempDir alone can remove them only if root runs the test. The package is for tests only.
package scratch

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Dir is like t.TempDir, but makes the content of the folder writable before its removal.
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
