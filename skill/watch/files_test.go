package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/skill/watch"
)

// A save of any file is told once, when the files are quiet; what is hidden is not, and nothing is told without a change.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("SKILL.md", "one")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		var told atomic.Int32
		go func() {
			defer close(done)
			watch.Files(ctx, dir, func() { told.Add(1) })
		}()
		for _, step := range []struct {
			name string
			do   func()
			want int
		}{
			{"nothing", func() {}, 0},
			{"a script", func() { write("scripts/a.py", "print()") }, 1},
			{"two files at once", func() { write("scripts/a.py", "print(1)"); write("SKILL.md", "two!") }, 2},
			{"hidden", func() { write(".git/x", "x"); write(".SKILL.md.swp", "x"); write("__pycache__/a.pyc", "x") }, 2},
			{"removed", func() {
				if err := os.Remove(filepath.Join(dir, "scripts/a.py")); err != nil {
					t.Fatal(err)
				}
			}, 3},
		} {
			step.do()
			time.Sleep(3 * time.Second)
			synctest.Wait()
			if got := int(told.Load()); got != step.want {
				t.Errorf("%s: told %d times, want %d", step.name, got, step.want)
			}
		}
		cancel()
		<-done
	})
}
