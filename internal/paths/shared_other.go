//go:build !unix

package paths

import "io/fs"

// Shared returns which file this is, and false if it has one name only. Here no file is known to have several.
func Shared(fs.FileInfo) (FileID, bool) { return FileID{}, false }

// Inode returns 0: here a file has no number that is known.
func Inode(fs.FileInfo) uint64 { return 0 }
