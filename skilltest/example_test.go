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

// shelf is a custom source: skills from a map of names to instructions, as in a database.
type shelf map[string]string

// Skills yields them in the order of names. Head is the whole manifest, because it is small; Open returns the files.
func (s shelf) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if ctx.Err() != nil {
				return
			}
			text := []byte("---\nname: " + name + "\ndescription: Explains " + name + ".\n---\n" + s[name])
			open := func(context.Context) (skill.Tree, error) {
				return files{fstest.MapFS{"SKILL.md": &fstest.MapFile{Data: text}}}, nil
			}
			if !yield(skill.Found{Path: name, File: "SKILL.md", Head: text, Open: open}, nil) {
				return
			}
		}
	}
}

// Roots returns no folders to watch, because these skills never change. Without this method a watcher polls.
func (s shelf) Roots() []string { return nil }

// files are the files of one skill. With a Location method its scripts could run; the example of skill.SourceFunc needs none.
type files struct{ fs.FS }

func (files) Close() error { return nil }

// The suite checks the rules that the interface cannot express. A test needs one call.
func ExampleSource() {
	_ = func(t *testing.T) { // func TestShelf(t *testing.T)
		skilltest.Source(t, func(t *testing.T) skill.Source {
			return shelf{"tea": "Heat water.\n", "toast": "Slice bread.\n"}
		})
	}
	// Output:
}

// The source of the example passes the suite.
func TestShelf(t *testing.T) {
	skilltest.Source(t, func(t *testing.T) skill.Source {
		return shelf{"tea": "Heat water.\n", "toast": "Slice bread.\n"}
	})
}
