package cli

import "syscall"

// Protect keeps what the process holds, such as the keys in its environment, from the scripts and commands that it
// starts, and from whatever else the same user runs: neither /proc nor ptrace opens it to them, and there is no core
// dump. Root, and whoever may trace everything, still can. Elsewhere than on Linux it does nothing.
func Protect() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_DUMPABLE, 0, 0) // it has no way to fail
}
