package check

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/skill/manifest"
)

// counted counts how often its name is asked for.
type counted struct {
	fs.DirEntry
	n *int
}

func (c counted) Name() string { *c.n++; return c.DirEntry.Name() }

// countedFS is a file system of counted entries.
type countedFS struct {
	fstest.MapFS
	n *int
}

func (c countedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := c.MapFS.ReadDir(name)
	for i := range list {
		list[i] = counted{list[i], c.n}
	}
	return list, err
}

// The list of scripts is held against the folder in one go: no file is looked at again for each name.
func TestDeclaredScriptsAreCheckedAtOnce(t *testing.T) {
	const many = 500
	n := 0
	files := countedFS{fstest.MapFS{}, &n}
	var names []string
	for i := range many {
		files.MapFS[fmt.Sprintf("scripts/f%d.py", i)] = &fstest.MapFile{}
		names = append(names, fmt.Sprintf("n%d", i))
	}
	files.MapFS["SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: my-skill\ndescription: x\nscripts: [" + strings.Join(names, ", ") + "]\n---\n")}
	_, problems := Folder(files, "my-skill", nil)
	if n > 20*many {
		t.Errorf("%d names are read for %d files, at most %d are wanted", n, many, 20*many)
	}
	if !slices.ContainsFunc(problems, func(p manifest.Problem) bool {
		return p.Code == "script-missing" && strings.Contains(p.Message, `"n0"`)
	}) {
		t.Errorf("got %v", problems)
	}
}

// The set of names gives the same answer as a look at each file.
func FuzzScriptNames(f *testing.F) {
	f.Add("a.py A.b.sh .hidden K.py", "a")
	f.Add("\u212A.py \u017Ft", "k")
	f.Add("a..b .", "a.")
	f.Fuzz(func(t *testing.T, files, want string) {
		var entries []fs.DirEntry
		for _, name := range strings.Fields(files) {
			entries = append(entries, fs.FileInfoToDirEntry(named{name: name}))
		}
		plain := slices.ContainsFunc(entries, func(d fs.DirEntry) bool {
			name := d.Name()
			return strings.EqualFold(name, want) || strings.EqualFold(strings.TrimSuffix(name, path.Ext(name)), want)
		})
		if got := scriptNames(entries)[foldedName(want)]; got != plain {
			t.Errorf("%q in %q: got %v, want %v", want, files, got, plain)
		}
	})
}

type named struct {
	fs.FileInfo
	name string
}

func (n named) Name() string { return n.name }
