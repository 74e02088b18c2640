package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Different skills have different places, and one skill has one place.
func TestPlaces(t *testing.T) {
	top := t.TempDir()
	a, b, way := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "way")
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(a, way); err != nil {
		t.Fatal(err)
	}
	version, other := Version("sha256:"+strings.Repeat("ab", 32)), Version(strings.Repeat("cd", 32))
	if version != "installed@abababababababab" || other != "installed@cdcdcdcdcdcdcdcd" || Version("x") != "installed@x" {
		t.Errorf("%s, %s", version, other)
	}
	for _, same := range [][2]string{{Folder(a), Folder(way)}, {Folder(a), Folder(a + "/../a/")}, {Home(version), Home(other)}, {Home(Folder(a)), Folder(a)}} {
		if same[0] != same[1] {
			t.Errorf("%s and %s", same[0], same[1])
		}
	}
	for _, apart := range [][2]string{{Folder(a), Folder(b)}, {Folder(way), RealFolder(way)}, {version, other}, {Home(version), "bundled"}} {
		if apart[0] == apart[1] {
			t.Errorf("both %s", apart[0])
		}
	}
	if path, ok := OfServer(Server("docs/pdf")); !ok || path != "docs/pdf" || IsServer(version) || IsFolder(version) || !IsFolder(Folder(a)) {
		t.Errorf("%s, %v", path, ok)
	}
}
