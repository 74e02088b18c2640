package store

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeAt returns the bytes that this user can write to the file system of a folder, or -1 if that is not known.
func freeAt(dir string) int64 {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return -1
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return -1
	}
	return int64(min(free, math.MaxInt64))
}
