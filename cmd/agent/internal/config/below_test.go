package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where skills of packages are looked for: in the folders that a path lies in, which are the user's own; never in hidden folders, in
// node_modules, behind a link or outside of the project.
func TestPackagesBelow(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "project")
	for _, dir := range []string{"a/.claude/skills", "a/deep/src", "a/deep/.agents", "b", "node_modules/m/.claude", "a/node_modules/n/.agents", ".hidden/h/.claude",
		"foreign/in/.claude", "foreign/.claude", "here/.claude", "../outside/.claude"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "outside"), filepath.Join(project, "link")); err != nil {
		t.Skip(err)
	}
	owned := func(info fs.FileInfo) bool { return info.Name() != "foreign" }
	c := &Config{Paths: Paths{Project: project, Packages: []string{filepath.Join(project, "here")}, Home: root}}
	for dir, want := range map[string][]string{
		".": nil, "a": {"a"}, "a/deep/src": {"a/deep", "a"}, "b": nil, "none": nil, "here": nil,
		"a/.claude/skills": {"a"}, "node_modules/m": nil, "a/node_modules/n": {"a"}, ".hidden/h": nil,
		"foreign": nil, "foreign/in": nil, "../outside": nil, "link": nil,
	} {
		if diff := cmp.Diff(want, below(project, c.packagesAt(filepath.Join(project, dir), owned))); diff != "" {
			t.Errorf("%s: %s", dir, diff)
		}
	}
	got, whole := c.packagesBelow(project, usualBounds(), owned)
	if diff := cmp.Diff([]string{"a", "a/deep"}, below(project, got)); diff != "" || !whole {
		t.Errorf("%s, %v", diff, whole)
	}
	c.Paths.Home = project
	if got, _ := c.packagesBelow(project, usualBounds(), owned); len(got) > 0 || len(c.packagesAt(filepath.Join(project, "a"), owned)) > 0 {
		t.Errorf("the home: %q", got)
	}
	if got, whole := (&Config{Paths: Paths{Project: project}}).packagesBelow(deep(t, project), usualBounds(), owned); len(got) > 0 || whole {
		t.Errorf("too deep: %q, %v", got, whole)
	}
}

// The walk ends at its bounds, and says so. C71
func TestPackagesBelowBounds(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"a/.agents", "b/.agents", "c/d/e/.agents"} {
		if err := os.MkdirAll(filepath.Join(dir, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := &Config{Paths: Paths{Project: dir}}
	owned := func(fs.FileInfo) bool { return true }
	for _, tt := range []struct {
		most  bounds
		want  int
		whole bool
	}{
		{usualBounds(), 3, true}, {bounds{3, 5, 3}, 3, true}, {bounds{2, 5, 3}, 2, false}, {bounds{3, 4, 3}, 2, false}, {bounds{3, 1, 3}, 1, false}, {bounds{3, 5, 1}, 2, false},
	} {
		got, whole := c.packagesBelow(dir, tt.most, owned)
		if len(got) != tt.want || whole != tt.whole {
			t.Errorf("%+v: %q, %v", tt.most, below(dir, got), whole)
		}
	}
	if usualBounds() != (bounds{packages: 256, folders: 20_000, depth: 10}) {
		t.Errorf("%+v", usualBounds())
	}
}

// below returns paths as slash paths below a folder.
func below(dir string, list []string) (out []string) {
	for _, p := range list {
		rel, _ := filepath.Rel(dir, p)
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

// deep makes a package that lies too deep below the folder that it returns.
func deep(t *testing.T, project string) string {
	top := filepath.Join(project, "top")
	at := filepath.Join(append([]string{top}, slices.Repeat([]string{"d"}, 12)...)...)
	if err := os.MkdirAll(filepath.Join(at, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	return top
}
