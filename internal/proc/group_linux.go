package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ended waits until the process has ended, without reaping it: its number is not reused.
func ended(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
