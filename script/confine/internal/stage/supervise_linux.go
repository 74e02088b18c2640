package stage

import (
	"syscall"
)

// Times between two looks, in milliseconds.
const (
	watchEvery = 25  // at the memory of all processes
	reapEvery  = 250 // for descendants that have ended
)

// supervise waits for the command, obeys the engine, and ends everything when the command ends or the engine is gone. It is one
// loop on one thread, which asks the system for nothing that a command which uses up all processes or memory could refuse.
func (s *stage) supervise() {
	for _, fd := range []int{0, 1, 2} { // only the command holds the pipes
		syscall.Close(fd)
	}
	pidfd, err := pidfdOpen(s.pid)
	if err != nil {
		s.end(Report{})
	}
	wait := int64(reapEvery)
	if s.program.Memory > 0 {
		wait = watchEvery
	}
	for {
		fds := [2]pollFd{{fd: int32(pidfd), events: pollIn}, {fd: socket, events: pollIn}}
		err := poll(fds[:], wait)
		if err != nil && err != syscall.EINTR {
			s.end(Report{})
		}
		if fds[0].revents != 0 {
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(s.pid, &status, 0, nil); pid == s.pid && err == nil {
				s.pid = 0
				s.end(Report{Kind: Ended, V: uint32(status)})
			}
		}
		if fds[1].revents != 0 {
			s.obey()
		}
		if s.program.Memory > 0 && s.overMemory() {
			report(Report{Kind: OverMemory}, -1)
			s.kill()
		}
		s.reap()
	}
}

// obey reads commands of the engine. The end of the file means that it is gone.
func (s *stage) obey() {
	var b [16]byte
	n, err := syscall.Read(socket, b[:])
	if err == syscall.EINTR || err == syscall.EAGAIN {
		return
	}
	if err != nil || n == 0 {
		s.end(Report{})
	}
	for _, c := range b[:n] {
		switch c {
		case Terminate:
			_ = syscall.Kill(-s.pid, syscall.SIGTERM)
		case Kill:
			s.kill()
		}
	}
}

// kill ends the command and all its descendants. The loop sees that the command has ended.
func (s *stage) kill() {
	if s.pid == 0 {
		return // it has ended: its number may be that of another process
	}
	_ = syscall.Kill(-s.pid, syscall.SIGKILL)
	_ = syscall.Kill(s.pid, syscall.SIGKILL)
}

// end ends all descendants, sends the last report and ends the stage. In a PID namespace the kernel ends what is left.
func (s *stage) end(r Report) {
	if s.program.Sweep {
		s.sweep()
	}
	if r.Kind != 0 {
		report(r, -1)
	}
	exit(0)
}

// reap takes note of descendants that have ended, but for the command.
func (s *stage) reap() {
	for {
		pid, err := ended() // it only looks: the status of the command is read by supervise
		if err != nil || pid == 0 || pid == s.pid {
			return
		}
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}
