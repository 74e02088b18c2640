//go:build unix

package proc

import (
	"os/exec"
	"sync"
	"syscall"
)

// Separate puts a process into a session of its own: no terminal, and a group to end.
func Separate() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Group is a started command and the processes of its group, which it has from Separate. It is a Process.
type Group struct {
	Cmd *exec.Cmd

	mu   sync.Mutex
	gone bool // its number may belong to someone else now
}

// Wait waits for the command, kills the rest of its group, and reads the rest of its output. On Linux it kills the group
// before the number of the command can be reused.
func (g *Group) Wait() {
	early := ended(g.Cmd.Process.Pid)
	if early {
		g.Kill()
		g.forget()
	}
	_ = g.Cmd.Wait() // how it ended is in its ProcessState
	if !early {
		g.Kill()
		g.forget()
	}
}

func (g *Group) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
}

// Terminate asks the group to end.
func (g *Group) Terminate() { g.signal(syscall.SIGTERM) }

// Kill ends the group.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

func (g *Group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.gone {
		_ = syscall.Kill(-g.Cmd.Process.Pid, s) // an empty group is not a failure
	}
}
