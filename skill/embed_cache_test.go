package skill

import (
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// turning is a file system whose file or link called name says something else each time it is read, in as many bytes.
type turning struct {
	fstest.MapFS
	name  string
	reads *atomic.Int32
}

func (t turning) turned(name, was string) string {
	if name != t.name {
		return was
	}
	return strings.Replace(was, "A", string(rune('A'+t.reads.Add(1))), 1)
}

func (t turning) Open(name string) (fs.File, error) {
	file, ok := t.MapFS[name]
	if !ok || name != t.name {
		return t.MapFS.Open(name)
	}
	now := *file
	now.Data = []byte(t.turned(name, string(file.Data)))
	return fstest.MapFS{name: &now}.Open(name)
}

func (t turning) ReadLink(name string) (string, error) {
	to, err := t.MapFS.ReadLink(name)
	return t.turned(name, to), err
}

// A11: a copy is what its digest says even when the skill changes while it is copied.
func TestChangedWhileCopied(t *testing.T) {
	for _, name := range []string{"scripts/run.py", "link"} {
		t.Run(name, func(t *testing.T) {
			files := turning{fstest.MapFS{
				"SKILL.md":       {Data: []byte(skillText("s", ""))},
				"scripts/run.py": {Data: []byte("A = 1")},
				"A":              {}, "B": {}, "C": {}, "D": {}, "E": {}, "F": {},
				"link": {Data: []byte("A"), Mode: fs.ModeSymlink},
			}, name, &atomic.Int32{}}
			cache := filepath.Join(t.TempDir(), "cache")
			sum, err := dirhash.Dir(t.Context(), files, nil)
			if err != nil {
				t.Fatal(err)
			}
			dir, err := materialise(t.Context(), files, &sum, copies{dir: cache}, "s")
			if err == nil || !strings.Contains(err.Error(), "changed while it was copied") {
				t.Errorf("got %q, %v", dir, err)
			}
			if there, _ := filepath.Glob(filepath.Join(cache, "*", "*")); len(there) > 0 {
				t.Errorf("left behind: %q", there)
			}
			chmodAll(t, cache)
		})
	}
}
