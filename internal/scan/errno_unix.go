//go:build unix

package scan

import "syscall"

const (
	errNotDir      = syscall.ENOTDIR
	errNameTooLong = syscall.ENAMETOOLONG
	nonBlock       = syscall.O_NONBLOCK
)
