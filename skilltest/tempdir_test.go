package skilltest_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
)

// What is written to a cache is removed after the test, whoever runs it.
func TestTempDir(t *testing.T) {
	cache := ""
	t.Run("inner", func(t *testing.T) {
		cache = skilltest.TempDir(t)
		files := fstest.MapFS{"dice/SKILL.md": {Data: []byte("---\nname: dice\ndescription: Rolls dice.\n---\n")}}
		c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "a", Source: skill.FS(files, &skill.FSOptions{Cache: cache})}}})
		if err != nil {
			t.Fatal(err)
		}
		for e := range c.Visible() {
			if _, err := e.Location(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	if _, err := os.Stat(cache); err == nil {
		t.Error("the cache is still there")
	}
}
