package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/internal/test/documenttest"
)

// The folder of a version follows from its name and digest: in a list without paths, which several machines share, and in a file that was
// moved here with its versions. A path that leads to a folder is used, and so is that of a link, which follows from nothing else.
func TestFolders(t *testing.T) {
	s, versions := newStore(t), &store.Dir{Root: t.TempDir()}
	s.Folder = versions.Path
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	at := func(digest string) string {
		path, err := versions.Path("One_X", digest)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := t.TempDir() // another folder of the store, which the settings named before
	own := filepath.Join(t.TempDir(), "gone")
	put(t, s, `{"version": 1, "score": 7, "skills": [
		{"name": "Own", "name_canonical": "own", "installed_path": "`+filepath.ToSlash(own)+`", "linked": true, "digest": "`+a+`"},
		{"name": "One_X", "name_canonical": "one-x", "installed_path": "/moved/.store/x/One_X", "digest": "`+a+`", "later": {"a": 1},
			"previous": [{"digest": "`+b+`", "installed_path": "`+filepath.ToSlash(other)+`"}, {"digest": "`+b+`", "installed_path": ""}]},
		{"name": "old", "name_canonical": "old", "installed_path": "/srv/old"}]}`)
	check := func() {
		t.Helper()
		set, err := s.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		one, _ := set.Get("one-x")
		if one.InstalledPath != at(a) || one.Previous[0].InstalledPath != filepath.ToSlash(other) || one.Previous[1].InstalledPath != at(b) || one.Layer() != "installed@aaaaaaaaaaaaaaaa" {
			t.Errorf("%s: %+v", one.Layer(), one)
		}
		for name, want := range map[string]string{"own": filepath.ToSlash(own), "old": "/srv/old"} {
			if e, _ := set.Get(name); e.InstalledPath != want || !strings.HasPrefix(e.Layer(), "folder@") {
				t.Errorf("%s is in %q, %s", name, e.InstalledPath, e.Layer())
			}
		}
	}
	check()
	pin := func(e *registry.Entry) error { e.Pinned = true; return nil }
	if err := s.Update(t.Context(), "old", pin); err != nil {
		t.Fatal(err)
	}
	check()
	text := read(t, s.Path)
	if !strings.Contains(text, at(a)) || !strings.Contains(text, `"score": 7`) || !strings.Contains(text, `"later"`) { // another program reads the file
		t.Errorf("%s", text)
	}

	shared := &documenttest.Memory{}
	if err := s.Register(t.Context(), registry.Entry{Name: "two", InstalledPath: own, Linked: true}); err != nil {
		t.Fatal(err)
	}
	here := &registry.Store{Kept: shared, Folder: versions.Path}
	e := registry.Entry{Name: "One_X", InstalledPath: at(a), Digest: a}
	if err := here.Register(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := here.Update(t.Context(), "one_x", func(e *registry.Entry) error { e.Digest, e.InstalledPath = b, at(b); return nil }); err != nil {
		t.Fatal(err)
	}
	if text, _ := shared.Load(t.Context()); strings.Contains(string(text), versions.Root) {
		t.Errorf("it names a folder of this machine: %s", text)
	}
	there := &registry.Store{Kept: shared, Folder: (&store.Dir{Root: "/there"}).Path}
	set, err := there.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := set.Get("one-x"); e.InstalledPath != filepath.Join("/there", ".store", strings.Repeat("b", 16), "One_X") || len(e.Previous) != 1 || !strings.HasPrefix(e.Previous[0].InstalledPath, "/there") {
		t.Errorf("%+v", e)
	}
	if _, err := os.Stat("/there"); err == nil {
		t.Error("something was made")
	}
}
