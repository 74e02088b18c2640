//go:build unix && !linux

package script

import "os/exec"

// ended cannot wait without reaping: the group is killed right after the command has ended.
func ended(int) bool { return false }

// start starts the command, without limits: these systems cannot limit another process.
func start(build func() *exec.Cmd, _ Limits) (*exec.Cmd, error) {
	cmd := build()
	return cmd, cmd.Start()
}
