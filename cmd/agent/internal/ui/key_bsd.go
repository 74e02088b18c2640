//go:build unix && !linux

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)

func dropTyped(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}
