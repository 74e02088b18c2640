//go:build unix

package cli

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// stop stops the program, as Ctrl-Z does, until a shell continues it. It returns false at once if no shell can, because the program is in
// the process group that began its session, as in a container or a window of its own.
func stop() bool {
	if session, err := unix.Getsid(0); err != nil || session == unix.Getpgrp() {
		return false
	}
	back := make(chan os.Signal, 1)
	signal.Notify(back, unix.SIGCONT)
	defer signal.Stop(back)
	if unix.Kill(0, unix.SIGTSTP) != nil {
		return false
	}
	<-back
	return true
}
