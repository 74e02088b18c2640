//go:build unix

package config

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to whoever runs this program, or to root.
func ours(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}
