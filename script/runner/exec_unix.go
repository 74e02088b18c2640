//go:build unix

package runner

import (
	"os"
	"syscall"
)

// ending returns how a process ended.
func ending(p *os.ProcessState) (code int, signal string) {
	if status, ok := p.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), status.Signal().String()
	}
	return p.ExitCode(), ""
}
