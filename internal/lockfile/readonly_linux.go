package lockfile

import "golang.org/x/sys/unix"

// readOnly reports whether a folder is on a file system that is mounted read-only.
func readOnly(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.ST_RDONLY != 0
}
