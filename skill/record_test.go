package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agent-base/agent-base/internal/scan"
)

// However many workers there are, no more of them read manifests at once than there are readings.
func TestVisitWaitsForAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &visit{s: &dirSource{abs: "/"}, level: make([]*record, 1), free: make(chan *reading, 1)}
		go v.Visit(0, 0, &scan.Item{Dir: "a", File: "SKILL.md", Data: []byte(skillText("a", ""))})
		synctest.Wait()
		if v.level[0] != nil {
			t.Error("a manifest was read without a reading")
		}
		v.free <- &reading{part: &part{layer: &Layer{}}}
		synctest.Wait()
		if v.level[0] == nil || len(v.free) != 1 {
			t.Errorf("read %v, %d readings are free", v.level[0], len(v.free))
		}
	})
}

// A long file without front matter is told from one that is not UTF-8, wherever reading stopped.
func TestLongTextWithoutFrontMatter(t *testing.T) {
	long := strings.Repeat("é", 100<<10)
	root := t.TempDir()
	for _, name := range []string{"a", "ab"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "SKILL.md"), []byte(name+long), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for e := range onDir(t, root).All() {
		if p := e.Problems(); len(p) != 1 || p[0].Code != "frontmatter-missing" {
			t.Errorf("%s: got %v", e.Name(), p)
		}
	}
}
