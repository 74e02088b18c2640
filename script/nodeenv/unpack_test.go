package nodeenv

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/internal/test/npmtest"
)

// Whatever a file is, only regular files below the place are written, and no more than is allowed.
func FuzzUnpack(f *testing.F) {
	reg := func(name, text string) npmtest.Entry {
		return npmtest.Entry{Header: tar.Header{Name: name, Typeflag: tar.TypeReg}, Text: text}
	}
	f.Add(npmtest.Pack(reg("package/a", "x"), reg("package/b/c", "y"), npmtest.Entry{Header: tar.Header{Name: "package/l", Typeflag: tar.TypeSymlink, Linkname: ".."}, Text: ""}))
	f.Add(npmtest.Pack(reg("../a", "x")))
	f.Add(npmtest.Pack(reg("a/../../b", "x")))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		outer := t.TempDir()
		env := filepath.Join(outer, "env")
		if err := os.Mkdir(env, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(env)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		const most = 1 << 16
		u := &unpacker{root: root, bytes: most, files: 20}
		_ = u.unpack(bytes.NewReader(b), int64(len(b)), "node_modules/a")
		var size int64
		count := 0
		filepath.WalkDir(outer, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, _ := d.Info()
			rel, _ := filepath.Rel(env, p)
			if !info.Mode().IsRegular() || !filepath.IsLocal(rel) || filepath.ToSlash(rel)[:15] != "node_modules/a/" {
				t.Errorf("%s: %v", rel, info.Mode())
			}
			size += info.Size()
			count++
			return nil
		})
		if size > most || count > 20 {
			t.Errorf("%d bytes in %d files", size, count)
		}
	})
}
