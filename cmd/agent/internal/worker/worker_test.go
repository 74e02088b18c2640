package worker

import (
	"strings"
	"testing"
)

// A question shows the command that runs: what only looks like a space is an escape (security 2.14 #184).
func TestCommandLinesAreExact(t *testing.T) {
	got, want := strings.Join(commandLines("./run\u00a0tests\n\tx\r\n\\t"), "|"), `./run\u{a0}tests|\tx\x0d|\\t`
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
