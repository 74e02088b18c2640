//go:build linux || darwin

package store

import (
	"math"

	"golang.org/x/sys/unix"
)

// freeAt returns the bytes that this user can write to the file system of a folder, or -1 if that is not known.
func freeAt(dir string) int64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Bsize <= 0 {
		return -1
	}
	if size := uint64(s.Bsize); s.Bavail < math.MaxInt64/size {
		return int64(s.Bavail * size)
	}
	return math.MaxInt64
}
