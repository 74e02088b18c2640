package skill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// refreshed checks that a refresh gives what a new Open gives, and a new catalogue only if
// something changed.
func refreshed(t *testing.T, c *Catalog, changed bool) *Catalog {
	t.Helper()
	n, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fresh := opened(t, &c.o)
	wantLines(t, "skills", whole(t, n), whole(t, fresh)...)
	if (n != c) != changed {
		t.Errorf("a new catalogue: %v, want %v", n != c, changed)
	}
	if again, _ := n.Refresh(t.Context()); again != n {
		t.Error("a second refresh gives another catalogue")
	}
	return n
}

// whole says everything that a catalogue knows.
func whole(t testing.TB, c *Catalog) []string {
	out := states(c)
	for e := range c.All() {
		out = append(out, fmt.Sprint(e.Name(), e.Canonical(), e.Description(), e.Version(), e.Priority(), locationOf(t, e), e.Problems()))
	}
	for _, p := range c.Problems() {
		out = append(out, p.Error())
	}
	return out
}

// C54, R67: whatever happens to the files, Refresh gives what Open gives.
func TestRefresh(t *testing.T) {
	rows := []struct {
		name   string
		change func(root string) error
	}{
		{"edit in place", func(root string) error {
			return os.WriteFile(filepath.Join(root, "a", "SKILL.md"), []byte(skillText("a", "version: 2.0.0")), 0o644)
		}},
		{"edit of the same size with the time put back", func(root string) error {
			p := filepath.Join(root, "a", "SKILL.md")
			info, err := os.Stat(p)
			if err != nil {
				return err
			}
			text, _ := os.ReadFile(p)
			if err := os.WriteFile(p, []byte(strings.Replace(string(text), "Does", "Dies", 1)), 0o644); err != nil {
				return err
			}
			return os.Chtimes(p, info.ModTime(), info.ModTime())
		}},
		{"add", func(root string) error {
			return os.Mkdir(filepath.Join(root, "zz"), 0o755)
		}},
		{"rename", func(root string) error { return os.Rename(filepath.Join(root, "a"), filepath.Join(root, "q")) }},
		{"remove", func(root string) error { return os.RemoveAll(filepath.Join(root, "a")) }},
		{"remove the manifest", func(root string) error { return os.Remove(filepath.Join(root, "a", "SKILL.md")) }},
		{"swap two folders", func(root string) error {
			for _, mv := range [][2]string{{"a", "x"}, {"b", "a"}, {"x", "b"}} {
				if err := os.Rename(filepath.Join(root, mv[0]), filepath.Join(root, mv[1])); err != nil {
					return err
				}
			}
			return nil
		}},
		{"a link", func(root string) error { return os.Symlink("/etc", filepath.Join(root, "l")) }},
		{"a folder becomes a link to another", func(root string) error {
			if err := os.RemoveAll(filepath.Join(root, "a")); err != nil {
				return err
			}
			return os.Symlink("b", filepath.Join(root, "a"))
		}},
		{"nested", func(root string) error {
			return os.Rename(filepath.Join(root, "a"), filepath.Join(root, "group", "a"))
		}},
		{"a manifest becomes broken", func(root string) error {
			return os.WriteFile(filepath.Join(root, "a", "SKILL.md"), []byte("---\n"), 0o644)
		}},
		{"a broken one becomes whole", func(root string) error {
			return os.WriteFile(filepath.Join(root, "broken", "SKILL.md"), []byte(skillText("broken", "")), 0o644)
		}},
		{"chmod", func(root string) error { return os.Chmod(filepath.Join(root, "a", "SKILL.md"), 0) }},
		{"a manifest becomes a folder", func(root string) error {
			p := filepath.Join(root, "a", "SKILL.md")
			os.Remove(p)
			return os.Mkdir(p, 0o755)
		}},
		{"the lower name", func(root string) error {
			return os.Rename(filepath.Join(root, "a", "SKILL.md"), filepath.Join(root, "a", "skill.md"))
		}},
		{"the root is replaced", func(root string) error {
			if err := os.Rename(root, root+".old"); err != nil {
				return err
			}
			return os.CopyFS(root, os.DirFS(root+".old"))
		}},
		{"the root vanishes", os.RemoveAll},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			root := disk(t, filepath.Join(t.TempDir(), "skills"), map[string]string{"a/SKILL.md": "", "b/SKILL.md": "priority: 1", "c/SKILL.md": "bogus: 1",
				"group/d/SKILL.md": "", "broken/SKILL.md": "---\n", "link/SKILL.md": "-> ../b/SKILL.md"})
			c := onDir(t, root)
			if n := refreshed(t, c, false); n != c {
				t.Fatal("nothing changed")
			}
			if err := r.change(root); err != nil {
				t.Fatal(err)
			}
			refreshed(t, c, true)
		})
	}
}

// What did not change is not read again: it is the same record.
func TestRefreshReuses(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "b/SKILL.md": "", "bad/SKILL.md": "---\n"})
	c := onDir(t, root)
	disk(t, root, map[string]string{"a/SKILL.md": "license: MIT", "n/SKILL.md": ""})
	n := refreshed(t, c, true)
	for name, same := range map[string]bool{"a": false, "b": true, "bad": true} { // IX6: a bad one is not read again
		if got := find(t, n, name).it.r == find(t, c, name).it.r; got != same {
			t.Errorf("%s: same record %v, want %v", name, got, same)
		}
	}
	// The catalogue before is as it was.
	if _, err := c.Lookup("n"); err == nil {
		t.Error("a snapshot changed")
	}
}

// A root that appears later is found.
func TestRefreshRootAppears(t *testing.T) {
	root := filepath.Join(t.TempDir(), "skills")
	c := onDir(t, root)
	disk(t, root, map[string]string{"a/SKILL.md": ""})
	refreshed(t, c, true)
}

// R66: a command that is installed meanwhile makes the skill available.
func TestRefreshRequires(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "metadata:\n  requires: gh"})
	there := false
	look := func(string) (string, error) {
		if there {
			return "/bin/gh", nil
		}
		return "", os.ErrNotExist
	}
	c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(root, nil)}}, LookPath: look})
	refreshed(t, c, false)
	there = true
	n := refreshed(t, c, true)
	if find(t, c, "a").State() != StateUnavailable || find(t, n, "a").State() != StateEnabled {
		t.Error("availability is not judged anew")
	}
}

// R66: the same holds for a skill that another one hides.
func TestRefreshShadows(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"high/a/SKILL.md": "", "low/a/SKILL.md": "metadata:\n  requires: gh"})
	there := false
	look := func(string) (string, error) {
		if there {
			return "/bin/gh", nil
		}
		return "", os.ErrNotExist
	}
	c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(filepath.Join(root, "high"), nil)}, {Name: "u", Source: Dir(filepath.Join(root, "low"), nil)}}, LookPath: look})
	refreshed(t, c, false)
	there = true
	n := refreshed(t, c, true)
	if before, after := find(t, c, "a").Shadows(), find(t, n, "a").Shadows(); len(after) != 1 || before[0].State() != StateUnavailable || after[0].State() != StateEnabled {
		t.Error("a hidden skill is not judged anew")
	}
}

// R67: a catalogue is safe for concurrent use.
func TestConcurrent(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "bogus: 1", "b/SKILL.md": ""})
	c := onDir(t, root)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				if i == 0 {
					os.WriteFile(filepath.Join(root, "b", "SKILL.md"), []byte(skillText("b", "license: MIT")), 0o644)
				}
				n, err := c.Refresh(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for e := range n.All() {
					s, err := e.Load(t.Context())
					if err != nil {
						continue // read while it is written
					}
					s.Manifest()
					s.ReadFile("SKILL.md")
					s.Close()
				}
			}
		})
	}
	group.Wait()
}

// Roots names the folders that are looked in, and Same distinguishes an unchanged skill from a changed one.
func TestRootsAndSame(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "b/SKILL.md": ""})
	none := filepath.Join(root, "none")
	c := opened(t, &Options{Layers: []Layer{{Name: "project", Source: Merge(Dir(none, nil), FS(embedded(), nil))}, {Name: "user", Source: Dir(root, nil)}}})
	wantLines(t, "roots", c.Roots(), none, root)
	if err := os.WriteFile(filepath.Join(root, "b", "SKILL.md"), []byte(skillText("b", "version: 2.0.0")), 0o644); err != nil {
		t.Fatal(err)
	}
	n := refreshed(t, c, true)
	if !find(t, n, "a").Same(find(t, c, "a")) || find(t, n, "b").Same(find(t, c, "b")) || find(t, n, "a").Same(find(t, n, "b")) {
		t.Error("an unchanged skill is not told from a changed one")
	}
}

// A cancelled refresh returns the old catalogue with its error.
func TestRefreshEnded(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": ""})
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	for name, source := range map[string]Source{"Dir": Dir(root, nil), "own": SourceFunc(Dir(root, nil).Skills)} {
		c := opened(t, &Options{Layers: []Layer{{Name: "user", Source: source}}})
		disk(t, root, map[string]string{"b-" + strings.ToLower(name) + "/SKILL.md": ""})
		if again, err := c.Refresh(dead); again != c || err != context.Canceled {
			t.Errorf("%s: got %p, %v, want %p and context.Canceled", name, again, err, c)
		}
		if none, err := Open(dead, &c.o); none != nil || err != context.Canceled {
			t.Errorf("%s: Open: %v, %v, want nil and context.Canceled", name, none, err)
		}
		if c = refreshed(t, c, true); !slices.ContainsFunc(states(c), func(s string) bool { return strings.HasPrefix(s, "b-") }) {
			t.Errorf("%s: %q", name, states(c))
		}
	}
}

// rooted is a source that says where its skills lie.
type rooted struct {
	Source
	dirs []string
}

func (r rooted) Roots() []string { return r.dirs }

// The folders to watch are those that sources name; Rootless says when one does not.
func TestRootless(t *testing.T) {
	own := SourceFunc(Dir("x", nil).Skills)
	for name, r := range map[string]struct {
		source   Source
		roots    []string
		rootless bool
	}{
		"Dir":       {Dir("/x", nil), []string{"/x"}, false},
		"FS":        {FS(inMemory(), nil), nil, false},
		"nil":       {nil, nil, false},
		"no folder": {Dir("", nil), nil, false},
		"own":       {own, nil, true},
		"rooted":    {rooted{own, []string{"/a", "/b"}}, []string{"/a", "/b"}, false},
		"fixed":     {rooted{own, nil}, nil, false},
		"relative":  {rooted{own, []string{"a", "/b"}}, []string{"/b"}, true},
		"merged":    {Merge(Dir("/x", nil), own, Dir("/y", nil)), []string{"/x", "/y"}, true},
	} {
		c := opened(t, &Options{Layers: []Layer{{Name: "user", Source: r.source}}})
		wantLines(t, name, c.Roots(), r.roots...)
		if c.Rootless() != r.rootless {
			t.Errorf("%s: rootless %v", name, c.Rootless())
		}
	}
}
