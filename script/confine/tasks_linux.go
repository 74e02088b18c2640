package confine

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// spareTasks is how many processes below the user's own limit a command is kept, so that the user can still start some.
const spareTasks = 32

// processes returns the limit of the kernel with which a command can have n processes and threads. Outside of a user namespace
// all those of the user count.
func (p *plan) processes(n uint64) uint64 {
	if p.layers.namespaces {
		return n
	}
	n += tasks(os.Geteuid())
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err == nil && own.Max > spareTasks {
		n = min(n, own.Max-spareTasks)
	}
	return n
}

// tasks returns the number of processes and threads of a user.
func tasks(uid int) (n uint64) {
	folders, _ := filepath.Glob("/proc/[0-9]*/task")
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			continue // it has ended
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid && st.Nlink > 2 {
			n += uint64(st.Nlink) - 2
		}
	}
	return n
}
