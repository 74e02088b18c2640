package skilltest

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/rogpeppe/go-internal/txtar"
)

// TempDir is t.TempDir for a folder that is given to the engine as a cache or store. The skills in it are in read-only folders, which
// t.TempDir alone cannot remove unless root runs the test.
func TempDir(t testing.TB) string {
	t.Helper()
	return scratch.Dir(t)
}

// FromTxtar writes the files of a txtar archive into a new temporary folder and returns the folder. The paths are slash
// paths below it. A file that begins with "#!" becomes executable. A test must create other files itself if their names
// cannot be stored in a source repository.
func FromTxtar(t testing.TB, archive string) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if !fs.ValidPath(f.Name) {
			t.Fatalf("invalid path %q in the archive", f.Name)
		}
		to := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(f.Data), "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(to, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// readHead returns the first n bytes of a file.
func readHead(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(n)))
}
