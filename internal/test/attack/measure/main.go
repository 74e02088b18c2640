//go:build unix

// Command measure runs the command that the variable ATTACK_MEASURE names, with its own arguments, and writes what that cost to
// descriptor 3. The peak memory of a process includes that of its parent: this parent is small, a program with tests is not. Starting it
// costs little, while a test program with the race detector takes longer to start than the command.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const failed = 255

func main() {
	path := os.Getenv("ATTACK_MEASURE")
	_ = os.Unsetenv("ATTACK_MEASURE")
	cmd := exec.Command(path, os.Args[1:]...) //nolint:gosec // the tests name it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(failed)
	}
	p := cmd.ProcessState
	peak := p.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" {
		peak <<= 10
	}
	if _, err := fmt.Fprintf(os.NewFile(3, "cost"), `{"CPU":%d,"Memory":%d}`, p.UserTime()+p.SystemTime(), peak); err != nil {
		os.Exit(failed)
	}
	os.Exit(p.ExitCode())
}
