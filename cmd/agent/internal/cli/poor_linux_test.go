package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poor is a program that starts another one on a machine without some layers of the sandbox: poor namespaces,landlock COMMAND ARGS...
// The kernel then answers as one without them, to the command and to all that it starts.
func poor() {
	runtime.LockOSThread()
	err := fmt.Errorf("usage: poor LAYERS COMMAND ARGS...")
	if len(os.Args) > 2 {
		err = become(os.Args[1], os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(125)
}

func become(layers string, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := refusing(strings.Contains(layers, "namespaces"), strings.Contains(layers, "landlock"))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return syscall.Exec(path, args, os.Environ())
}

// refusing returns a seccomp program that refuses new user namespaces, and the calls of Landlock.
func refusing(namespaces, landlock bool) []unix.SockFilter {
	const numberAt, firstArgument = 0, 16
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	answer := func(errno syscall.Errno) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	}
	unless := func(number uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: number, Jf: skip}
	}
	out := []unix.SockFilter{load(numberAt)}
	if landlock {
		out = append(out, unless(unix.SYS_LANDLOCK_CREATE_RULESET, 1), answer(unix.ENOSYS))
	}
	if namespaces {
		out = append(out, unless(unix.SYS_CLONE3, 1), answer(unix.ENOSYS), unless(unix.SYS_UNSHARE, 1), answer(unix.EPERM),
			unless(unix.SYS_CLONE, 3), load(firstArgument),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_NEWUSER, Jf: 1}, answer(unix.EPERM))
	}
	return append(out, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
}
