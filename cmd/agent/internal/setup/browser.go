package setup

import (
	"context"
	"os/exec"
	"runtime"
)

// Browse opens an address in the user's browser, if there is one. It does not wait for that: the user was shown the address.
func (s *Settings) Browse(ctx context.Context, address string) {
	program := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if program == nil {
		program = []string{"xdg-open"}
	}
	path, err := s.FindProgram(program[0])
	if err != nil {
		return
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), path, append(program[1:], address)...)
	c.Env = s.sys.Environ
	if c.Start() == nil {
		go c.Wait() //nolint:errcheck // nothing depends on it
	}
}
