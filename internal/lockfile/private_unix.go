//go:build unix

package lockfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Owned reports whether a file belongs to the user of this process or to root.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// Names returns how many names a file has: its hard links.
func Names(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

func checkOwner(path string, info fs.FileInfo) error {
	if !Owned(info) {
		return &UnsafeError{Path: path, Foreign: true, Mode: info.Mode().Perm()}
	}
	s, _ := info.Sys().(*syscall.Stat_t)
	forbidden := fs.FileMode(0o022)
	if s.Gid == s.Uid {
		forbidden = 0o002
	}
	if info.Mode().Perm()&forbidden != 0 {
		return &UnsafeError{Path: path, Mode: info.Mode().Perm()}
	}
	return nil
}
