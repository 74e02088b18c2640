package undo

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the records say, every path lies below the workspace and every kept file in the turn's folder.
func FuzzParse(f *testing.F) {
	head := `{"workspace":"/ws","conversation":"c","label":"l","time":"2026-05-01T12:00:00Z"}` + "\n"
	sum := strings.Repeat("0a", 32)
	for _, seed := range []string{
		"", head, head + `{"undone":true}`, head + `{"path":"a","after":"` + sum + `"}` + "\n",
		head + `{"path":"a/b","existed":true,"mode":420,"before":"` + sum + `","kept":"1","after":"` + sum + `","folders":["a"]}` + "\n" + `{"path`,
		head + `{"path":"../x","after":"` + sum + `"}`, head + `{"path":"a","existed":true,"kept":"../1","before":"` + sum + `","after":"` + sum + `"}`,
		head + `{"path":"a/../b","after":"` + sum + `"}`, head + `{"path":"/a","after":"` + sum + `"}`, head + "null\n[]\n\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		turn, err := parse(src)
		if err != nil {
			return
		}
		for _, r := range turn.changes {
			for _, p := range append([]string{r.Path}, r.Folders...) {
				if !filepath.IsLocal(filepath.FromSlash(p)) || filepath.ToSlash(filepath.Clean(p)) != p || p == "." {
					t.Errorf("path %q", p)
				}
			}
			if strings.ContainsAny(r.Kept, `/\.`) {
				t.Errorf("kept in %q", r.Kept)
			}
		}
		for _, target := range turn.targets() {
			if len(target.states) < 2 {
				t.Errorf("%+v", target)
			}
		}
	})
}
