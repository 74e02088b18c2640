package proc

import (
	"os/exec"
	"syscall"
)

// Separate puts a process into a group of its own, without a window.
func Separate() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// Group is a started command. Its children are not ended with it: that needs a job object.
type Group struct{ Cmd *exec.Cmd }

// Wait waits for the command.
func (g *Group) Wait() { _ = g.Cmd.Wait() }

// Terminate ends the command.
func (g *Group) Terminate() { g.Kill() }

// Kill ends the command.
func (g *Group) Kill() { _ = g.Cmd.Process.Kill() }
