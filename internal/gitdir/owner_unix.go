//go:build unix

package gitdir

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock has the opening of a pipe not wait for its other end.
const nonblock = syscall.O_NONBLOCK

// owned reports whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
