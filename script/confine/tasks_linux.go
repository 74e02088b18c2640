package confine

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// spareTasks is how many processes below the user's own limit a command is kept, so that the user can still start some.
const spareTasks = 32

// manyTasks is a limit of a user that a command in a namespace does not come near.
const manyTasks = 1 << 14

// processes returns the limit of the kernel with which a command can have n processes and threads. Outside of a user namespace
// all those of the user count for it. For the limit of the user they count everywhere.
func (p *plan) processes(n uint64) uint64 {
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err != nil || own.Max <= spareTasks {
		own.Max = unix.RLIM_INFINITY
	}
	if p.layers.namespaces && own.Max > manyTasks {
		return n
	}
	others := tasks(os.Geteuid())
	if !p.layers.namespaces {
		return min(others+n, own.Max-spareTasks)
	}
	if others+spareTasks+2*stageThreads > own.Max {
		return 2 * stageThreads // enough for the stage; the kernel refuses what is too much
	}
	return min(n, own.Max-spareTasks-others)
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
