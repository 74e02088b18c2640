package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)

// dropTyped drops what was typed into a terminal and is not read yet.
func dropTyped(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
