package skill

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The portable way of reading folders gives the same catalogue, and the same skill.
func TestPortable(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "a/f": "x", "b/SKILL.md": "priority: 1", "g/c/SKILL.md": "", "bad/SKILL.md": "---\n",
		"l": "-> .store/d", ".store/d/SKILL.md": "", "out": "-> /etc", "big/SKILL.md/": ""})
	portable := newDirSource(root, DirOptions{Nested: true})
	portable.portable = true
	slow := opened(t, &Options{Layers: []Layer{{Name: "project", Source: portable}}})
	fast := onDir(t, root)
	wantLines(t, "portable", whole(t, slow), whole(t, fast)...)
	refreshed(t, slow, false)
	for _, c := range []*Catalog{slow, fast} {
		s := loaded(t, c, "d")
		if dir, err := s.Dir(t.Context()); dir != filepath.Join(root, ".store", "d") || err != nil {
			t.Errorf("a linked skill's real folder: got %q %v", dir, err)
		}
		if got := locationOf(t, find(t, c, "d")); got != filepath.Join(root, "l", "SKILL.md") {
			t.Errorf("a linked skill's location: got %q", got)
		}
		if text, err := loaded(t, c, "a").ReadFile("f"); string(text) != "x" {
			t.Errorf("got %q %v", text, err)
		}
	}
}

// C38: with LinksDeny nothing is followed; with Allow what lies there is.
func TestLinkPolicies(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{"company/a/SKILL.md": "", "root/b/SKILL.md": "", "root/a": "-> ../company/a", "root/c": "-> b"})
	root := filepath.Join(base, "root")
	rows := []struct {
		name     string
		o        DirOptions
		want     string
		problems int
	}{
		{"contained", DirOptions{}, "b", 1},
		{"deny", DirOptions{Links: LinksDeny}, "b", 2},
		{"allow-list", DirOptions{Allow: []string{filepath.Join(base, "company")}}, "a b", 0},
	}
	for _, r := range rows {
		c := opened(t, &Options{Layers: []Layer{{Name: "p", Source: Dir(root, &r.o)}}})
		got := ""
		for e := range c.Visible() {
			got += " " + e.Name()
			loaded(t, c, e.Name())
		}
		if got != " "+r.want || len(c.Problems()) != r.problems {
			t.Errorf("%s: got %q, %v", r.name, got, c.Problems())
		}
	}
}

// A context that has ended ends Open and Refresh with its error.
func TestContextEnds(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": ""})
	c := onDir(t, root)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, source := range []Source{Dir(root, nil), FS(embedded(), nil)} {
		if _, err := Open(ctx, &Options{Layers: []Layer{{Name: "p", Source: source}}}); !errors.Is(err, context.Canceled) {
			t.Errorf("open: got %v", err)
		}
	}
	if _, err := c.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("refresh: got %v", err)
	}
}

// Every method of an entry, for a plain skill and for one with everything.
func TestEntry(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"plain/SKILL.md": "metadata:\n  version: \"1.10\"",
		"rich/SKILL.md": "version: 2.0.0\npriority: 7\ntags: [x, y]\nwhen_to_use: often\nuser-invocable: false\ntriggers:\n  keywords: [k]\nscope:\n  agents: [z]\nmetadata:\n  requires: git"})
	c := opened(t, &Options{Layers: []Layer{{Name: "user", Source: Dir(root, nil)}}})
	p, r := find(t, c, "plain"), find(t, c, "rich")
	if p.kept() != nil || r.kept() == nil {
		t.Fatal("what is plain is not told from what is not")
	}
	if p.Version() != "1.10" || p.Description() != "Does plain." || p.Brief() != r.Brief()[:5]+"plain." || p.Mount() != "skills" || !p.UserInvocable() ||
		p.WhenToUse() != "" || p.Tags() != nil || !p.Triggers().Empty() || p.Requires() != nil || p.Scope().Agents != nil || p.Priority() != 0 {
		t.Errorf("plain: %q %q %q", p.Version(), p.Description(), p.Brief())
	}
	if r.Version() != "2.0.0" || r.Priority() != 7 || len(r.Tags()) != 2 || r.Triggers().Empty() || len(r.Requires()) != 1 || len(r.Scope().Agents) != 1 ||
		r.WhenToUse() != "often" || r.UserInvocable() {
		t.Errorf("rich: %+v", *r.kept())
	}
	if c.Len() != 2 || p.Path() != "plain" || locationOf(t, p) != filepath.Join(root, "plain", "SKILL.md") {
		t.Errorf("%d %q %q", c.Len(), p.Path(), locationOf(t, p))
	}
}

// A relative root is one folder for good: what is listed, read, named and asked about is the same, wherever the process
// goes.
func TestDirStays(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	disk(t, one, map[string]string{"skills/a/SKILL.md": ""})
	disk(t, two, map[string]string{"skills/a/SKILL.md": "version: 6.6.6", "skills/evil/SKILL.md": ""})
	asked := ""
	t.Chdir(one)
	root, err := filepath.Abs("skills")
	if err != nil {
		t.Fatal(err)
	}
	c := opened(t, &Options{Layers: []Layer{{Name: "project", Source: Dir("skills", &DirOptions{Within: one})}},
		Trust: func(_ context.Context, s Subject) (Trust, error) { asked = s.Dir; return TrustRoot, nil }})
	t.Chdir(two)
	c = refreshed(t, c, false)
	wantLines(t, "skills", states(c), "a project:a enabled")
	wantLines(t, "roots", c.Roots(), root)
	s := loaded(t, c, "a")
	dir, err := s.Dir(t.Context())
	if want := filepath.Join(root, "a"); err != nil || dir != want || s.Manifest().Version != "" {
		t.Errorf("got version %q in %q, %v; want none in %q", s.Manifest().Version, dir, err, want)
	}
	if _, err := find(t, c, "a").Trust(t.Context()); err != nil || asked != dir {
		t.Errorf("trust is asked for %q, %v; the skill lies in %q", asked, err, dir)
	}
	for f, err := range Dir("skills", nil).Skills(t.Context()) {
		if f.Path == "a" && (err != nil || len(f.Head) == 0) {
			t.Errorf("a new source reads %q, %v", f.Head, err)
		}
	}
}

// What makes no sense as a folder is not taken for the working directory: no skills, and a problem that says it.
func TestDirRefused(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{"skills/a/SKILL.md": ""})
	t.Chdir(base)
	rows := map[string]struct {
		root string
		o    DirOptions
	}{
		"the folder has no name":            {"", DirOptions{Nested: true}},
		"Within \"skills\" is not absolute": {base, DirOptions{Nested: true, Within: "skills"}},
		"Allow [\"/x\" \"skills\"]":         {base, DirOptions{Nested: true, Allow: []string{"/x", "skills"}}},
		"invalid DirOptions.Links 2":        {base, DirOptions{Nested: true, Links: LinksDeny + 1}},
	}
	for want, r := range rows {
		c := opened(t, &Options{Layers: []Layer{{Name: "project", Source: Dir(r.root, &r.o)}}})
		wantLines(t, "skills", states(c))
		if p := c.Problems(); len(p) != 1 || p[0].Code != "source-unreadable" || !strings.Contains(p[0].Message, want) {
			t.Errorf("problems %v, want one with %q", p, want)
		}
		if got := c.Roots(); got != nil {
			t.Errorf("%s: roots %q", want, got)
		}
	}
}

// A cache that is not absolute would lie wherever the process happens to be: nothing is written, and the error says so.
func TestRelativeCache(t *testing.T) {
	base := disk(t, t.TempDir(), map[string]string{"skills/a/SKILL.md": ""})
	t.Chdir(base)
	c := opened(t, &Options{Layers: []Layer{{Name: "bundled", Source: FS(os.DirFS("skills"), &FSOptions{Cache: "rel"})}}})
	s := loaded(t, c, "a")
	if dir, err := s.Dir(t.Context()); err == nil || !strings.Contains(err.Error(), `cache folder "rel"`) {
		t.Errorf("dir %q, %v", dir, err)
	}
	if got, err := s.Entry().Location(t.Context()); got != "" || err == nil {
		t.Errorf("location %q, %v", got, err)
	}
	for _, cache := range []string{"", "rel"} {
		if sealed, err := loaded(t, onDir(t, "skills"), "a").Seal(t.Context(), cache); err == nil {
			t.Errorf("a copy is made below %q: %v", cache, sealed)
		}
	}
	if list, _ := os.ReadDir(base); len(list) != 1 {
		t.Errorf("the working directory has %v, want what was there", list)
	}
}
