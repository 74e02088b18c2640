package gitdir

import (
	"fmt"
	"os"
	"syscall"
)

// identity names a folder by its number and the time at which it was made: a number alone is given again.
func identity(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x-%x.%x", s.Ino, s.Birthtimespec.Sec, s.Birthtimespec.Nsec)
}
