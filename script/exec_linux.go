package script

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// separate puts the process into a session of its own: no terminal, and a group to end.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func terminate(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

// limit sets the limits of a process that has just been started. The program can run for some
// microseconds before they hold; the sandbox sets them before the program begins.
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
	if s := uint64(l.CPU.Seconds()); s > 0 {
		set(unix.RLIMIT_CPU, s, s+2)
	}
}
