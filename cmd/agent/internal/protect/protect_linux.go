package protect

import "syscall"

// hidden is the result of the one call that this package makes.
//
//lint:ignore U1000 its initialiser is what the package is for
var hidden = hide()

//lint:ignore U1000 hidden calls it
func hide() syscall.Errno {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0) // it has no way to fail
	return errno
}
