//go:build unix

package paths

import (
	"io/fs"
	"syscall"
)

// Shared returns which file this is, and false if it has one name only. info is what the os package says about it.
func Shared(info fs.FileInfo) (FileID, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Nlink < 2 {
		return FileID{}, false
	}
	return FileID{uint64(s.Dev), s.Ino}, true //nolint:unconvert // the type differs between systems
}

// Inode returns the number of a file or folder on its file system, which it keeps under another name.
func Inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
