//go:build unix

package script

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// separate puts the process into a session of its own: no terminal, and a group to end.
func separate() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is a command and the processes of its group.
type group struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	gone bool // its number may belong to someone else now
}

// wait waits for the command, kills the rest of its group, and reads the rest of its output. On Linux it kills the group
// before the number of the command can be reused.
func (g *group) wait() {
	early := ended(g.cmd.Process.Pid)
	if early {
		g.kill()
		g.forget()
	}
	_ = g.cmd.Wait() // how it ended is in its ProcessState
	if !early {
		g.kill()
		g.forget()
	}
}

func (g *group) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
}

func (g *group) terminate() { g.signal(syscall.SIGTERM) }

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.cmd.Process.Pid, s) // an empty group is not a failure
	}
}

// ending returns how a process ended.
func ending(p *os.ProcessState) (code int, signal string) {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return p.ExitCode(), ""
}
