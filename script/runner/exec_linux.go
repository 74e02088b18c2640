package runner

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// start starts the command with its limits. It stops the process at its first instruction until they are set. If the system
// does not allow that, it sets them right after the start.
func start(build func() *exec.Cmd, l Limits) (*exec.Cmd, error) {
	runtime.LockOSThread() // only the thread that starts the process may continue it
	defer runtime.UnlockOSThread()
	cmd := build()
	cmd.SysProcAttr.Ptrace = true
	if cmd.Start() != nil {
		cmd = build()
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		limit(cmd.Process.Pid, l)
		return cmd, nil
	}
	pid := cmd.Process.Pid
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	limit(pid, l)
	if err := unix.PtraceDetach(pid); err != nil && !errors.Is(err, unix.ESRCH) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("letting the process go: %w", err)
	}
	return cmd, nil
}

// limit sets the limits of a process, unless it has ended.
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
