//go:build !linux

package script

import "os/exec"

func separate(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func limit(int, Limits) {}
