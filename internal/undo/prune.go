package undo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prune forgets turns that are too old, and the oldest of those that take too much room together. What cannot be removed
// stays.
func prune(dir string, now time.Time) {
	type turn struct {
		path, name string
		bytes      int64
	}
	var turns []turn
	workspaces, _ := os.ReadDir(dir)
	for _, w := range workspaces {
		entries, _ := os.ReadDir(filepath.Join(dir, w.Name()))
		for _, e := range entries {
			if e.IsDir() {
				path := filepath.Join(dir, w.Name(), e.Name())
				turns = append(turns, turn{path, e.Name(), size(path)})
			}
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return strings.Compare(b.name, a.name) })
	oldest := now.Add(-MaxAge).UTC().Format("20060102T150405")
	var sum int64
	for _, t := range turns {
		if sum += t.bytes; sum > MaxBytes || t.name < oldest {
			_ = os.RemoveAll(t.path)
		}
	}
}

// size returns the bytes of the files in a turn's folder.
func size(dir string) int64 {
	var sum int64
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
