package paths

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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

func TestResolve(t *testing.T) {
	dir := Real(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(at("a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"rel": "a/b", "abs": at("a"), "two": "abs/b/..", "up": "rel/../b", "round": "around", "around": "round", "gone": "nothing", "top": "/"}
	for name, text := range links {
		if err := os.Symlink(filepath.FromSlash(text), at(name)); err != nil {
			t.Skip(err)
		}
	}
	for _, tt := range []struct {
		path, want string // below dir
		links      string
		why        string
	}{
		{path: "a/b", want: "a/b"}, {path: "a/./b/../b", want: "a/b"}, {path: "rel", want: "a/b", links: "rel"}, {path: "abs/b", want: "a/b", links: "abs"},
		{path: "two/b", want: "a/b", links: "two abs"}, {path: "up", want: "a/b", links: "up rel"}, {path: "top/" + at("rel"), want: "a/b", links: "top rel"},
		{path: "round/x", links: "round around", why: "leads through too many symbolic links"}, {path: "gone", links: "gone", why: "does not exist"},
		{path: "abs/none", links: "abs", why: "does not exist"}, {path: "file/x", why: "cannot be used: not a directory"},
	} {
		real, met, err := Resolve(at(tt.path))
		var names []string
		for _, l := range met {
			if name, _ := filepath.Rel(dir, l.Path); l.Text == filepath.FromSlash(links[name]) {
				names = append(names, name)
			}
		}
		if got := strings.Join(names, " "); got != tt.links || len(met) != len(names) {
			t.Errorf("%s: links %q of %q, want %q", tt.path, got, met, tt.links)
		}
		switch {
		case tt.why == "" && (err != nil || real != at(tt.want)):
			t.Errorf("%s: got %q, %v", tt.path, real, err)
		case tt.why != "" && (err == nil || Why(err) != tt.why):
			t.Errorf("%s: got %q, %v", tt.path, real, err)
		}
	}
	if _, _, err := Resolve("a"); err == nil {
		t.Error("a relative path is resolved")
	}
}

func TestHolds(t *testing.T) {
	dir := Real(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := os.MkdirAll(at("var/home/u"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"home": "var/home", "links/u": "../home/u", "alias": "links"} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.FromSlash(text), at(name)); err != nil {
			t.Skip(err)
		}
	}
	for folder, want := range map[string]bool{"links": true, "alias": true, "home": true, "var": true, "var/home/u": true, ".": true, "var/home/u/x": false, "other": false} {
		if got := Holds(at(folder), at("links/u")); got != want {
			t.Errorf("%s: got %v", folder, got)
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
