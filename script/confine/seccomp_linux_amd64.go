package confine

import "golang.org/x/sys/unix"

// What only this processor has, for the lists of the same names.
var (
	refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_NFSSERVCTL}
	modesHere   = []callArg{{unix.SYS_CHMOD, 1}, {unix.SYS_CREAT, 1}, {unix.SYS_MKNOD, 1}}
	makersHere  = []callArg{{unix.SYS_OPEN, 2}}
)
