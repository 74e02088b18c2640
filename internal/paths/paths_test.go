package paths

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		path string
		want bool
	}{{"/a", true}, {"/a/b", true}, {"/a/../c", true}, {"/c/d", true}, {"/ab", false}, {"/", false}, {"/a/../d", false}, {"/a/..b", true}} {
		if got := Within([]string{"/a", "/c"}, tt.path); got != tt.want {
			t.Errorf("Within(%q) = %v, want %v", tt.path, got, tt.want)
		}
	}
	if Within(nil, "/a") {
		t.Error("/a lies in no folder")
	}
}

func TestReal(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                                  "",
		filepath.Join(dir, "link"):          filepath.Join(dir, "real"),
		filepath.Join(dir, "link/new/file"): filepath.Join(dir, "real/new/file"),
	} {
		if got := Real(path); got != want {
			t.Errorf("Real(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	if got := Unique([]string{"a", "b", "a"}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("Unique: %q", got)
	}
	list := []string{"a", "b", "c"}
	if got := Without(list, []string{"b"}); !slices.Equal(got, []string{"a", "c"}) || len(list) != 3 || list[1] != "b" {
		t.Errorf("Without: %q of %q", got, list)
	}
}
