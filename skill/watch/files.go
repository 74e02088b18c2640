package watch

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/content"
)

// maxFiles is how many files and folders of a skill Files looks at.
const maxFiles = 10_000

// Files calls changed after files below an absolute folder changed and were then quiet for one interval, until ctx is done. It
// is for the folder of one skill, whose files a Watcher does not watch. It compares names, sizes and times, and reads no file.
// Hidden files, node_modules and what belongs to no skill do not count. Calls do not overlap.
func Files(ctx context.Context, dir string, changed func()) {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	told := state(dir)
	last := told
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := state(dir)
		if now == last && now != told {
			told = now
			changed()
		}
		last = now
	}
}

// state returns a number that changes when a file below dir does.
func state(dir string) uint64 {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0
	}
	defer root.Close()
	sum, seen := fnv.New64a(), 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxFiles {
			return fs.SkipAll
		}
		if err != nil {
			return fs.SkipDir
		}
		if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || content.Leftover(root.FS(), name) != "") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			fmt.Fprintf(sum, "%s\x00%d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return sum.Sum64()
}
