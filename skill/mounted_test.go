package skill

import (
	"slices"
	"testing"
)

// R47, R54: each skill that a model sees has a path of its own in the workspace.
func TestMounted(t *testing.T) {
	one := disk(t, t.TempDir(), map[string]string{"pdf/SKILL.md": "", "grp/inner/SKILL.md": "", "Foo_Dir/SKILL.md": "name: bar", "twin/SKILL.md": "name: a-twin"})
	two := disk(t, t.TempDir(), map[string]string{"twin/SKILL.md": "name: b-twin", "foo-dir/SKILL.md": "name: c"})
	alone := disk(t, t.TempDir(), map[string]string{"SKILL.md": "name: alone"})
	c := opened(t, &Options{Layers: []Layer{
		{Name: "project", Mount: "skills/project/", Source: Dir(disk(t, t.TempDir(), map[string]string{"pdf/SKILL.md": "name: mine"}), nil)},
		{Name: "user", Source: Dir(one, &DirOptions{Nested: true})}, {Name: "extra", Source: Dir(two, nil)}, {Name: "other", Source: Dir(alone, nil)},
	}})
	got := map[string]string{}
	var places []string
	for e := range c.All() {
		got[e.Name()] = e.Mounted()
		places = append(places, e.Mounted())
	}
	for name, want := range map[string]string{"mine": "skills/project/pdf", "pdf": "skills/pdf", "inner": "skills/grp/inner", "bar": "skills/Foo_Dir",
		"a-twin": "skills/twin", "b-twin": "skills/b-twin", "c": "skills/c", "alone": "skills/alone"} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	slices.Sort(places)
	if n := len(places); len(slices.Compact(places)) != n {
		t.Errorf("two skills have one path: %q", places)
	}
}

// The skill of a server is in no folder. If its source names no place, it has none, and nothing can be recorded of it.
func TestPlaceOfServer(t *testing.T) {
	dir := disk(t, t.TempDir(), map[string]string{"pdf/SKILL.md": ""})
	for named, want := range map[string]string{"": "", "docs/pdf": "mcp@docs/pdf"} {
		c := opened(t, &Options{Layers: []Layer{{Name: "mcp", Server: "docs", Place: named, Source: Dir(dir, nil)}}})
		n := 0
		for e := range c.All() {
			n++
			if at, err := e.Place(t.Context()); at != want || err != nil {
				t.Errorf("place %q, %v, want %q", at, err, want)
			}
		}
		if n != 1 {
			t.Errorf("%d skills: %v", n, c.Problems())
		}
	}
}
