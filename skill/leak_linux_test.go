package skill

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Refreshing and loading for ever opens no more and no more files, even where a caller forgets to
// close a skill.
func TestNoLeak(t *testing.T) {
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "", "a/f": "", "l": "-> .s/b", ".s/b/SKILL.md": ""})
	c := onDir(t, root)
	before := openFiles(t)
	for i := range 100 {
		n, err := c.Refresh(t.Context())
		if err != nil || n != c {
			t.Fatal("changed", err)
		}
		s, err := find(t, c, "a").Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadFile("f"); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s.Close()
		if i%10 == 0 {
			find(t, c, "b").Load(t.Context()) // forgotten
			disk(t, root, map[string]string{"a/SKILL.md": fmt.Sprintf("priority: %d", i)})
			if c, err = c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	deadline := time.Now().Add(10 * time.Second)
	for openFiles(t) > before && time.Now().Before(deadline) {
		runtime.GC()
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, %d were", after, before)
	}
	runtime.KeepAlive(c)
}
