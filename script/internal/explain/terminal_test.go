package explain

import (
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// A script that opens a pseudo terminal is told that the sandbox has none.
func TestNoTerminal(t *testing.T) {
	s := load(t, t.TempDir(), tree{"scripts/a.sh": ""})
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
		r := ran(s, "scripts/a.sh", tt.stderr)
		r.Out.Sandbox.Tier = tt.tier
		if got := Explain(t.Context(), r).Text(); (got == " (the sandbox has no pseudo terminals, which it opens)") != tt.want {
			t.Errorf("%q in %s: got %q", tt.stderr, tt.tier, got)
		}
	}
}
