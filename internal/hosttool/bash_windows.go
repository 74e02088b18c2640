package hosttool

import (
	"os"
	"syscall"
)

func separate() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// killGroup ends the command alone: its children would need a job object.
func killGroup(p *os.Process) error { return p.Kill() }

func exitCode(p *os.ProcessState) int { return p.ExitCode() }
