// Package paths compares absolute paths of folders and files.
package paths

import (
	"path/filepath"
	"slices"
)

// Within reports whether a path is one of the folders or lies below one. It compares the texts and follows no links.
func Within(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// WithinReal reports whether a path is the folder or lies below it, where the links in both lead.
func WithinReal(folder, path string) bool { return Within([]string{Real(folder)}, Real(path)) }

// Real returns a path without symbolic links. The part of it that does not exist stays. It returns "" for "".
func Real(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(Real(dir), filepath.Base(path))
}

// Unique returns the list with the first of each entry. It changes the list.
func Unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(item string) bool {
		was := seen[item]
		seen[item] = true
		return was
	})
}

// Without returns a copy of the list without the entries that other has.
func Without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return slices.Contains(other, item) })
}

// FileID is a file, whatever its name.
type FileID struct{ device, inode uint64 }
