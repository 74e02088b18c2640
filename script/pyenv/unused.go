package pyenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// marked is how long a sign of use counts: not every run writes one.
const marked = 24 * time.Hour

// markUsed records for Unused that an environment is in use. If it fails, the environment may be removed and made again.
func markUsed(record string) {
	if info, err := os.Stat(record); err == nil && time.Since(info.ModTime()) > marked {
		now := time.Now()
		_ = os.Chtimes(record, now, now)
	}
}

// Leftover is something in a cache that may be removed.
type Leftover struct {
	Path  string   // its name in reports
	Why   string   // why it is not needed
	Parts []string // absolute paths to remove, in this order: the record of an environment comes first
}

// Unused lists the environments that were not used since a time and the folders that no record names, in the order of their
// names, and uv's cache. They may be removed while no script runs and none is prepared.
func (s *Store) Unused(since time.Time) []Leftover {
	root := s.folder()
	keep := map[string]bool{} // folders that a record names
	var out []Leftover
	entries, _ := os.ReadDir(root) // a missing folder has nothing to remove
	for _, d := range entries {
		key, isRecord := strings.CutSuffix(d.Name(), ".json")
		info, err := d.Info()
		if !isRecord || err != nil || !info.Mode().IsRegular() {
			continue
		}
		record := filepath.Join(root, d.Name())
		folder := readRecord(record, key).Folder
		keep[folder] = true
		if !info.ModTime().After(since) {
			parts := []string{record}
			if folder != "" {
				parts = append(parts, filepath.Join(root, folder))
			}
			out = append(out, Leftover{record, "not used since " + info.ModTime().Format(time.DateOnly), append(parts, filepath.Join(root, key+".lock"))})
		}
	}
	for _, d := range entries {
		if d.IsDir() && d.Type()&fs.ModeSymlink == 0 && !keep[d.Name()] {
			dir := filepath.Join(root, d.Name())
			out = append(out, Leftover{dir, "left by an earlier preparation", []string{dir}})
		}
	}
	return append(out, s.downloads()...)
}

// downloads lists uv's caches. Environments have copies of their files, so no environment needs them.
func (s *Store) downloads() []Leftover {
	var out []Leftover
	root := filepath.Join(s.o.Cache, "uv")
	entries, _ := os.ReadDir(root)
	for _, d := range entries {
		if d.IsDir() {
			dir := filepath.Join(root, d.Name())
			out = append(out, Leftover{dir, "downloads of packages, of which environments have copies", []string{dir}})
		}
	}
	return out
}
