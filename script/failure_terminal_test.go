package script

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// A script that opens a pseudo terminal is told that the sandbox has none.
func TestNoTerminal(t *testing.T) {
	for _, tt := range []struct {
		stderr, tier string
		want         bool
	}{
		{"Traceback\nOSError: out of pty devices\n", "A", true},
		{"open /dev/ptmx: no such file or directory\n", "B", true},
		{"Error: forkpty(3) failed.\n", "A", true},
		{"OSError: out of pty devices\n", runner.NoSandbox, false},
		{"a pty is not needed\n", "A", false},
	} {
		r := host(t)
		r.Runner = &canned{out: runner.Output{ExitCode: 1, Stderr: []byte(tt.stderr), Sandbox: &runner.Sandbox{Tier: tt.tier}}}
		_, err := run(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", nil)
		if err == nil || strings.Contains(err.Error(), "exit code 1 (the sandbox has no pseudo terminals, which it opens)") != tt.want {
			t.Errorf("%q in %s: got %v", tt.stderr, tt.tier, err)
		}
	}
}
