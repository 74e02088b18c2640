package stage

import (
	"syscall"
	"unsafe"
)

// What follows is not in package syscall. A stage imports no package that has more: such a package has other packages
// initialised first, and a stage is to begin before them.

// The numbers of system calls are the same on all processors but MIPS, where none of these has a meaning.
const (
	sysOpenTree       = 428
	sysMoveMount      = 429
	sysPidfdOpen      = 434
	sysCloseRange     = 436
	sysOpenat2        = 437
	sysMountSetattr   = 442
	sysCreateRuleset  = 444
	sysAddRule        = 445
	sysRestrictSelf   = 446
	atFdcwd           = -100
	atEmptyPath       = 0x1000
	atRecursive       = 0x8000
	oPath             = 0x200000
	resolveNoMagic    = 0x2
	resolveNoLinks    = 0x4
	resolveInRoot     = 0x10
	openTreeClone     = 0x1
	openTreeCloexec   = syscall.O_CLOEXEC
	moveFromEmptyPath = 0x4
	moveToEmptyPath   = 0x40
	attrReadOnly      = 0x1
	closeRangeCloexec = 0x4
	pollIn            = 0x1
	waitAll           = 0
	setSubreaper      = 0x24
	setNoNewPrivs     = 0x26
	setSeccomp        = 0x16
	seccompFilter     = 0x2
	seccompAllow      = 0x7fff0000
	seccompErrno      = 0x50000
	capAmbient        = 0x2f
	capAmbientClear   = 0x4
	capVersion3       = 0x20080522
	rulePathBeneath   = 0x1
	ruleNetPort       = 0x2
	accessExecute     = 0x1
	accessWriteFile   = 0x2
	accessReadFile    = 0x4
	accessTruncate    = 0x4000
	accessIoctlDev    = 0x8000
)

// These functions do not tell Go's scheduler that they make a system call: none waits, and the scheduler would start a thread to
// run what else there is, which is nothing.

// result returns the error of a system call.
func result(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

func prctl(option int, a, b uintptr) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, uintptr(option), a, b, 0, 0, 0)
	return result(errno)
}

func closeRange(first, last, flags uint) error {
	_, _, errno := syscall.RawSyscall(sysCloseRange, uintptr(first), uintptr(last), uintptr(flags))
	return result(errno)
}

// openNoLinks opens a path that leads through no symbolic link.
func openNoLinks(path string) (int, error) { return open(atFdcwd, path, resolveNoLinks|resolveNoMagic) }

// openIn opens a path below an open folder, which is its root. It leads through no symbolic link.
func openIn(folder int, path string) (int, error) {
	return open(folder, path, resolveNoLinks|resolveNoMagic|resolveInRoot)
}

func open(at int, path string, resolve uint64) (int, error) {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	how := [3]uint64{oPath | syscall.O_CLOEXEC, 0, resolve}
	fd, _, errno := syscall.RawSyscall6(sysOpenat2, uintptr(at), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

func symlinkAt(text string, folder int, name string) error {
	t, err := syscall.BytePtrFromString(text)
	if err != nil {
		return err
	}
	n, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_SYMLINKAT, uintptr(unsafe.Pointer(t)), uintptr(folder), uintptr(unsafe.Pointer(n)))
	return result(errno)
}

// readlinkAt returns the text of a link, "" if it cannot be read.
func readlinkAt(folder int, name string) string {
	n, err := syscall.BytePtrFromString(name)
	if err != nil {
		return ""
	}
	var text [4096]byte
	length, _, errno := syscall.RawSyscall6(syscall.SYS_READLINKAT, uintptr(folder), uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(&text)), uintptr(len(text)), 0, 0)
	if errno != 0 {
		return ""
	}
	return string(text[:length])
}

// openTree returns a copy of what is mounted at an open path and below it.
func openTree(at int) (int, error) {
	var empty byte
	fd, _, errno := syscall.RawSyscall(sysOpenTree, uintptr(at), uintptr(unsafe.Pointer(&empty)),
		openTreeClone|openTreeCloexec|atRecursive|atEmptyPath)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// setAttributes sets attributes of the mount at a path, seen from a folder.
func setAttributes(dir int, path string, flags uint, attributes uint64) error {
	p, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	attr := [4]uint64{attributes}
	_, _, errno := syscall.RawSyscall6(sysMountSetattr, uintptr(dir), uintptr(unsafe.Pointer(p)), uintptr(flags), uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return result(errno)
}

// moveMount mounts a copy of openTree at an open path.
func moveMount(tree, to int) error {
	var empty byte
	_, _, errno := syscall.RawSyscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(&empty)), uintptr(to), uintptr(unsafe.Pointer(&empty)),
		moveFromEmptyPath|moveToEmptyPath, 0)
	return result(errno)
}

// interfaceUp switches a network interface on.
func interfaceUp(socket int, name string) error {
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], name)
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(socket), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
	return result(errno)
}

// capabilities are those of a thread: effective, permitted and inheritable, twice 32 of each.
type capabilities [2][3]uint32

// capHeader says that a call is about the calling thread.
type capHeader struct {
	version uint32
	pid     int32
}

func (c *capabilities) set() error {
	header := capHeader{version: capVersion3}
	_, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(c)), 0)
	return result(errno)
}

func (c *capabilities) get() error {
	header := capHeader{version: capVersion3}
	_, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(c)), 0)
	return result(errno)
}

func pidfdOpen(pid int) (int, error) {
	fd, _, errno := syscall.RawSyscall(sysPidfdOpen, uintptr(pid), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// ended returns a child that has ended and was not waited for, 0 if there is none.
func ended() (int, error) {
	var info [32]int32 // siginfo_t
	_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, waitAll, 0, uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT, 0, 0)
	return int(info[4]), result(errno) // si_pid, on 64-bit systems
}

type pollFd struct {
	fd              int32
	events, revents int16
}

// poll waits for descriptors at most that many milliseconds. It tells the scheduler.
func poll(fds []pollFd, milliseconds int64) error {
	timeout := syscall.NsecToTimespec(milliseconds * 1e6)
	var first *pollFd
	if len(fds) > 0 {
		first = &fds[0]
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(first)), uintptr(len(fds)), uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return result(errno)
}
