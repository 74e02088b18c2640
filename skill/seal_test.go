package skill

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// security 2.3 #44: what was looked at is what stays, whatever becomes of the skill.
func TestSeal(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": skillText("a", ""), "a/scripts/run.sh": "old", "a/scripts/bin": "#!/bin/sh\n",
		"a/notes.md": "-> references/n.md", "a/references/n.md": "note", "a/.git/config": "hidden"})
	if err := os.Chmod(filepath.Join(root, "a", "scripts", "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() { chmodAll(t, cache) })
	s := loaded(t, onDir(t, root), "a")
	want, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, s, cache)
	if err := os.WriteFile(filepath.Join(root, "a", "scripts", "run.sh"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir, _ := sealed.Dir(t.Context())
	if digest, _ := sealed.Digest(t.Context()); digest != want || filepath.Base(dir) != "a" || !strings.HasPrefix(dir, cache) {
		t.Errorf("digest %s in %s, want %s below %s", digest, dir, want, cache)
	}
	for file, want := range map[string]string{"scripts/run.sh": "old", "notes.md": "note"} {
		if text, err := sealed.ReadFile(file); string(text) != want {
			t.Errorf("%s: %q %v, want %q", file, text, err, want)
		}
	}
	if _, err := fs.Stat(sealed.FS(), ".git"); err == nil {
		t.Error("what no digest covers was copied")
	}
	// C63: a template that a script copies can be changed; nothing can be added beside it.
	for file, want := range map[string]fs.FileMode{"scripts/run.sh": 0o600, "scripts/bin": 0o700, "scripts": fs.ModeDir | 0o500} {
		if info, err := fs.Stat(sealed.FS(), file); err != nil || info.Mode()&^0o077 != want {
			t.Errorf("%s: %v %v, want %v", file, info, err, want)
		}
	}
	if name := sealed.Manifest().Name; name != "a" || sealed.Entry() != s.Entry() {
		t.Errorf("the copy is %q of %v", name, sealed.Entry())
	}
	if now := seal(t, loaded(t, onDir(t, root), "a"), cache); digestOf(t, now) == want {
		t.Error("a changed skill has the digest of before")
	}
}

// A copy that was tampered with is made anew; a file that is executable now gives another copy.
func TestSealAgain(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": skillText("a", ""), "a/scripts/run": "#!/bin/sh\n"})
	cache := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() { chmodAll(t, cache) })
	first := seal(t, loaded(t, onDir(t, root), "a"), cache)
	dir, _ := first.Dir(t.Context())
	for _, change := range []func(string) error{
		func(p string) error { return os.WriteFile(p, []byte("evil"), 0o600) },
		func(p string) error { os.Remove(p); return os.Symlink("/bin/sh", p) },
		func(p string) error { return os.WriteFile(filepath.Join(filepath.Dir(p), "more.py"), nil, 0o600) },
	} {
		chmodAll(t, cache)
		os.Chmod(filepath.Join(dir, "scripts", "run"), 0o600)
		if err := change(filepath.Join(dir, "scripts", "run")); err != nil {
			t.Fatal(err)
		}
		again := seal(t, loaded(t, onDir(t, root), "a"), cache)
		if text, err := again.ReadFile("scripts/run"); string(text) != "#!/bin/sh\n" {
			t.Errorf("got %q %v", text, err)
		}
		if list, _ := fs.ReadDir(again.FS(), "scripts"); len(list) != 1 {
			t.Errorf("got %v", list)
		}
	}
	if err := os.Chmod(filepath.Join(root, "a", "scripts", "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	last := seal(t, loaded(t, onDir(t, root), "a"), cache)
	if info, err := fs.Stat(last.FS(), "scripts/run"); err != nil || info.Mode()&0o111 == 0 || digestOf(t, last) != digestOf(t, first) {
		t.Errorf("mode %v %v", info, err)
	}
}

func seal(t *testing.T, s *Skill, cache string) *Skill {
	t.Helper()
	sealed, err := s.Seal(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sealed.Close() })
	return sealed
}

func digestOf(t *testing.T, s *Skill) string {
	t.Helper()
	d, err := s.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// tired is a tree that ends the context when a file is opened for the given time: what goes on after that was not asked.
type tired struct {
	Tree
	opens *int
	end   func()
}

func (t tired) Open(name string) (fs.File, error) {
	if name == "f" {
		if *t.opens++; *t.opens == 2 { // the first is for the digest
			t.end()
		}
	}
	return t.Tree.Open(name)
}

func (t tired) Location(context.Context) (string, error) { return "/nowhere/a", nil }

// A copy that is called off leaves nothing behind that could be taken for one.
func TestSealEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	opens := 0
	c := opened(t, &Options{Layers: []Layer{{Name: "own", Source: own(func(context.Context) (Tree, error) {
		return tired{ownTree{fstest.MapFS{"SKILL.md": inMemory()["a/SKILL.md"], "f": {Data: []byte("x")}, "g": {Data: []byte("y")}}}, &opens, cancel}, nil
	})}}})
	cache := t.TempDir()
	if s, err := loaded(t, c, "a").Seal(ctx, cache); s != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, want context.Canceled", s, err)
	}
	err := filepath.WalkDir(cache, func(p string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			t.Errorf("%s is left", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// C77: a copy has nothing that belongs to no skill, and one into which somebody has put such a thing is made anew.
func TestSealLeavesOut(t *testing.T) {
	left := []string{"scripts/__pycache__/a.cpython-314.pyc", "scripts/a.pyc", ".git/config", ".DS_Store", ".venv/bin/python", "web/node_modules/x/i.js", "a~", ".pytest_cache/x"}
	files := map[string]string{"a/SKILL.md": skillText("a", ""), "a/scripts/a.py": "x", "a/web/package-lock.json": "{}", "a/lone.pyc": "module", "a/.env": "K=1"}
	own := len(files)
	for _, name := range left {
		files["a/"+name] = "left"
	}
	root := disk(t, t.TempDir(), files)
	s := loaded(t, onDir(t, root), "a")
	cache := filepath.Join(t.TempDir(), "cache")
	t.Cleanup(func() { chmodAll(t, cache) })
	for range 2 {
		sealed, err := s.Seal(t.Context(), cache)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := sealed.Dir(t.Context())
		if err != nil || digestOf(t, sealed) != digestOf(t, s) {
			t.Fatal(err)
		}
		n := 0
		err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		if err != nil || n != own {
			t.Errorf("the copy has %d files, %v; want %d", n, err, own)
		}
		for _, name := range left {
			if _, err := fs.Stat(sealed.Whole(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is in the copy: %v", name, err)
			}
			if _, err := fs.Stat(s.FS(), name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is a file of the skill: %v", name, err)
			}
			if _, err := fs.Stat(s.Whole(), name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is read: %v", name, err)
			}
		}
		sealed.Close()
		chmodAll(t, cache)
		for _, name := range []string{"scripts/__pycache__/a.cpython-314.pyc", "scripts/a.pyc"} { // for the second time
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("planted"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := s.Files(t.Context())
	if err != nil || len(list) != own-1 { // without .env
		t.Errorf("files %v, %v", list, err)
	}
}

// A copy has what the digest covers, whatever happens to the skill between the two.
func TestSealChanged(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(dir string) error
		changed bool // the copy cannot be made
	}{
		{"nothing", func(string) error { return nil }, false},
		{"other content", func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.sh"), []byte("new"), 0o644) }, true},
		{"removed", func(dir string) error { return os.Remove(filepath.Join(dir, "run.sh")) }, true},
		{"a link", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "run.sh")), os.Symlink("SKILL.md", filepath.Join(dir, "run.sh")))
		}, true},
		{"one more", func(dir string) error { return os.WriteFile(filepath.Join(dir, "more.sh"), nil, 0o644) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": skillText("a", ""), "a/run.sh": "old"})
			cache := filepath.Join(t.TempDir(), "cache")
			t.Cleanup(func() { chmodAll(t, cache) })
			s := loaded(t, onDir(t, root), "a")
			digest := digestOf(t, s)
			if err := c.change(filepath.Join(root, "a")); err != nil {
				t.Fatal(err)
			}
			sealed, err := s.Seal(t.Context(), cache)
			if got := errors.Is(err, ErrChanged); got != c.changed || (err != nil) != c.changed {
				t.Fatalf("got %v, want ErrChanged: %v", err, c.changed)
			}
			if err != nil {
				return
			}
			defer sealed.Close()
			is, err := dirhash.Dir(t.Context(), sealed.FS(), nil)
			if err != nil || is.Digest != digest || digestOf(t, sealed) != digest {
				t.Errorf("the copy has the digest %s, %v, want %s", is.Digest, err, digest)
			}
		})
	}
}
