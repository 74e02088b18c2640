// Package probe makes skills for tests.
package probe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
)

// Start begins a SKILL.md of the skill probe: more fields may follow, and then a line of hyphens and the instructions.
const Start = "---\nname: probe\ndescription: A skill for tests.\n"

// Tree is the content of files by slash path; one that begins with "#!" or whose path ends in "*" may be executed.
type Tree map[string]string

// Write writes the files below a folder.
func (tr Tree) Write(t testing.TB, dir string) {
	t.Helper()
	for name, content := range tr {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") || strings.HasSuffix(name, "*") {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, "*")))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
	}
}

// In makes the skill probe with these files in a folder of skills and loads it.
func In(t testing.TB, root string, files Tree) *skill.Skill {
	t.Helper()
	dir := filepath.Join(root, "probe")
	Tree{"SKILL.md": Start + "---\nBody.\n"}.Write(t, dir)
	files.Write(t, dir)
	return From(t, skill.Dir(root, nil))
}

// From loads the skill probe of a source.
func From(t testing.TB, source skill.Source) *skill.Skill {
	t.Helper()
	return Of(t, skill.Layer{Name: "user", Source: source})
}

// Of loads the skill probe of a layer.
func Of(t testing.TB, layer skill.Layer) *skill.Skill {
	t.Helper()
	cat, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{layer}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := cat.Lookup("probe")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
