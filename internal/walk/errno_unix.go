//go:build unix

package walk

import "syscall"

const (
	errNotDir      = syscall.ENOTDIR
	errNameTooLong = syscall.ENAMETOOLONG
	errAgain       = syscall.EAGAIN
	nonBlock       = syscall.O_NONBLOCK
)
