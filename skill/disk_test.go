package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// disk writes files below a folder: a path that ends in "/" is a folder, a text "-> x" a link.
// A text without front matter under SKILL.md gets one, with the folder's name.
func disk(t testing.TB, root string, files map[string]string) string {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, p)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			if strings.HasSuffix(strings.ToLower(name), "skill.md") && !strings.Contains(text, "---") {
				text = skillText(filepath.Base(filepath.Dir(p)), text)
			}
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// manifest makes a SKILL.md. more is further lines of front matter.
func skillText(name, more string) string {
	if more != "" && !strings.HasSuffix(more, "\n") {
		more += "\n"
	}
	return fmt.Sprintf("---\nname: %s\ndescription: Does %s.\n%s---\nBody of %s.\n", name, name, more, name)
}

func opened(t testing.TB, o *Options) *Catalog {
	t.Helper()
	c, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func onDir(t testing.TB, root string) *Catalog {
	return opened(t, &Options{Layers: []Layer{{Name: "project", Source: Dir(root, nil)}}})
}

// states lists the skills with their state and reason.
func states(c *Catalog) []string {
	var out []string
	for e := range c.All() {
		line := e.Name() + " " + e.Layer() + ":" + e.Path() + " " + e.State().String()
		if e.Reason() != "" {
			line += ": " + e.Reason()
		}
		for _, s := range e.Shadows() {
			line += " > " + s.Layer() + ":" + s.Path()
		}
		out = append(out, line)
	}
	return out
}

// codes lists the problems by code and the last parts of their file.
func codes(c *Catalog, root string) []string {
	var out []string
	for _, p := range c.Problems() {
		file := strings.TrimPrefix(strings.TrimPrefix(p.File, root), "/")
		out = append(out, strings.TrimSpace(p.Code+" "+file))
	}
	return out
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func find(t testing.TB, c *Catalog, name string) Entry {
	t.Helper()
	e, err := c.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func loaded(t testing.TB, c *Catalog, name string) *Skill {
	t.Helper()
	s, err := find(t, c, name).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func trustNone(context.Context, Subject) (Trust, error) { return TrustNone, nil }

// locationOf returns a skill's location, "" when it has none.
func locationOf(t testing.TB, e Entry) string {
	t.Helper()
	at, err := e.Location(t.Context())
	if err != nil && !errors.Is(err, ErrNoFolder) {
		t.Fatal(err)
	}
	return at
}
