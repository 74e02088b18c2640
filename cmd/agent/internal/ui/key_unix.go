//go:build unix

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// oneKey makes a terminal give each key at once, and not show it, until back is called. Ctrl-C and Ctrl-Z keep their meaning. It
// reports false if that cannot be.
func oneKey(f *os.File) (back func(), ok bool) {
	fd := int(f.Fd())
	was, err := unix.IoctlGetTermios(fd, getMode)
	if err != nil {
		return nil, false
	}
	mode := *was
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if unix.IoctlSetTermios(fd, setMode, &mode) != nil {
		return nil, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, setMode, was) }, true
}
