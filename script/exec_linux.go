package script

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// ended waits until the process has ended, and leaves it to be waited for: its number stays its own.
func ended(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// limit sets the limits of a process that has just been started. It runs for some microseconds before
// they hold, too short for an interpreter to reach its script; a sandbox sets them before the program
// begins. A process that is gone already needs none.
func limit(pid int, l Limits) {
	set := func(resource int, soft, hard uint64) {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: soft, Max: hard}, nil)
	}
	set(unix.RLIMIT_CORE, 0, 0)
	if l.FileSize > 0 {
		set(unix.RLIMIT_FSIZE, l.FileSize, l.FileSize)
	}
	if l.OpenFiles > 0 {
		set(unix.RLIMIT_NOFILE, l.OpenFiles, l.OpenFiles)
	}
	if l.CPU > 0 {
		s := uint64((l.CPU + time.Second - 1) / time.Second)
		set(unix.RLIMIT_CPU, s, s+2) // the signal of the soft limit can be seen; with both equal it is SIGKILL at once
	}
}
