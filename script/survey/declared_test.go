package survey

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// counted counts how often its name is asked for.
type counted struct {
	fs.DirEntry
	n *int
}

func (c counted) Name() string { *c.n++; return c.DirEntry.Name() }

// counting returns the entries of scripts/ and the count of how often their names are asked for.
func counting(t testing.TB, fsys fs.FS) ([]fs.DirEntry, *int) {
	t.Helper()
	list, err := fs.ReadDir(fsys, Dir)
	if err != nil {
		t.Fatal(err)
	}
	n := new(int)
	for i := range list {
		list[i] = counted{list[i], n}
	}
	return list, n
}

// R31: the names that a manifest lists are found without going through all files for each.
func TestDeclaredIsBounded(t *testing.T) {
	const many = 500
	content, same := tree{}, tree{}
	var missing, there, one []string
	for i := range many {
		content[fmt.Sprintf("scripts/f%d.py", i)] = ""
		same[fmt.Sprintf("scripts/a.x%d", i)] = "no script"
		missing, there, one = append(missing, fmt.Sprintf("n%d", i)), append(there, fmt.Sprintf("F%d", i)), append(one, "a")
	}
	for name, r := range map[string]struct {
		files  tree
		listed []string
		want   int
	}{
		"none is there": {content, missing, 0}, "each is there": {content, there, many}, "one that many look like": {same, one, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := files(r.files)
			entries, n := counting(t, fsys)
			f := &folder{fsys: fsys, m: &manifest.Manifest{Scripts: r.listed}}
			f.declared(entries)
			if len(f.files) != r.want || *n > 20*many {
				t.Errorf("%d scripts, want %d; %d names are read for %d files, at most %d are wanted", len(f.files), r.want, *n, many, 20*many)
			}
		})
	}
}

// A name leads to the same file as by going through all of them.
func FuzzDeclared(f *testing.F) {
	f.Add("a.py a.md A.sh b tool.PY", "A b a.md tool c")
	f.Add("x.1 x.2 x.py X", "x X.1 x")
	f.Fuzz(func(t *testing.T, names, listed string) {
		content := tree{}
		for i, name := range strings.Fields(names) {
			if fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "/*") {
				content["scripts/"+name] = []string{"", "#!/bin/sh\n"}[i%2]
			}
		}
		if len(content) == 0 {
			return
		}
		fsys := files(content)
		entries, _ := counting(t, fsys)
		l := (&folder{fsys: fsys}).listing(entries)
		for _, base := range strings.Fields(listed) {
			want := slices.IndexFunc(entries, func(d fs.DirEntry) bool { return Fold(d.Name()) == Fold(base) })
			if want < 0 {
				want = slices.IndexFunc(entries, func(d fs.DirEntry) bool { return Fold(stem(d.Name())) == Fold(base) && isScript(fsys, Dir, d) })
			}
			if got := l.find(base); got != want {
				t.Errorf("%q of %q: got %d, want %d", base, names, got, want)
			}
		}
	})
}
