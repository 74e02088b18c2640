//go:build unix && !linux

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

func dropTyped(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
