package host

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func sorted(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

// remove deletes a folder, also one with folders that are read-only. Links in it are not followed.
func remove(folder string) error {
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o700)
		}
		return err
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(folder)
}
