package script

import (
	"os"
	"os/exec"
	"syscall"
)

func separate() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// group is a command. Its children are not ended with it: that needs a job object.
type group struct{ cmd *exec.Cmd }

func (g *group) wait() { _ = g.cmd.Wait() }

func (g *group) terminate() { g.kill() }

func (g *group) kill() { _ = g.cmd.Process.Kill() }

func ending(p *os.ProcessState) (code int, signal string) { return p.ExitCode(), "" }

// start starts the command, without limits.
func start(build func() *exec.Cmd, _ Limits) (*exec.Cmd, error) {
	cmd := build()
	return cmd, cmd.Start()
}
