//go:build unix && !linux

package runner

import "os/exec"

// start starts the command, without limits: these systems cannot limit another process.
func start(build func() *exec.Cmd, _ Limits) (*exec.Cmd, error) {
	cmd := build()
	return cmd, cmd.Start()
}
