//go:build unix

package cli

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// stop stops the program, as Ctrl-Z does, until a shell brings it back. It does nothing and reports false if no shell can: the program has
// the process group that its session began with, as in a container or a window of its own.
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
