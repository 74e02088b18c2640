package skilltest_test

import (
	"context"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
)

// shelf is a source of one's own: skills out of a map from names to instructions, as a database would hold them.
type shelf map[string]string

// Skills yields them by name. Head is the whole manifest, since it is small; Open gives the skill's files.
func (s shelf) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if ctx.Err() != nil {
				return
			}
			text := []byte("---\nname: " + name + "\ndescription: Tells about " + name + ".\n---\n" + s[name])
			open := func(context.Context) (skill.Tree, error) {
				return files{fstest.MapFS{"SKILL.md": &fstest.MapFile{Data: text}}}, nil
			}
			if !yield(skill.Found{Path: name, File: "SKILL.md", Head: text, Open: open}, nil) {
				return
			}
		}
	}
}

// Roots says that no folder has to be watched: these skills never change. Without it a watcher asks again and again.
func (s shelf) Roots() []string { return nil }

// files are the files of one skill. With a method Location as well its scripts could run.
type files struct{ fs.FS }

func (files) Close() error { return nil }

// The suite holds a source to what its interface cannot say: in a test, one call.
func ExampleSource() {
	_ = func(t *testing.T) { // func TestShelf(t *testing.T)
		skilltest.Source(t, func(t *testing.T) skill.Source {
			return shelf{"tea": "Heat water.\n", "toast": "Slice bread.\n"}
		})
	}
	// Output:
}

// What the example shows holds.
func TestShelf(t *testing.T) {
	skilltest.Source(t, func(t *testing.T) skill.Source {
		return shelf{"tea": "Heat water.\n", "toast": "Slice bread.\n"}
	})
}
