package worker

import (
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// issue 26.11: of what the sandbox lacks, a failed command is told what its words are about, and one that succeeded nothing.
func TestWhy(t *testing.T) {
	closed := "there can be no new files in /w, because something in it is hidden"
	s := &runner.Sandbox{Missing: []string{"memory: there is no limit", "write: " + closed}}
	for text, want := range map[string]string{"touch: cannot touch 'x': Permission denied": closed, "Error: EACCES: open 'x'": closed, "FAIL": "", "": ""} {
		if got := why(&runner.Output{ExitCode: 1, Stdout: []byte(text), Sandbox: s}); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if got := why(&runner.Output{Stdout: []byte(text), Sandbox: s}); got != "" {
			t.Errorf("%q, without a failure: got %q", text, got)
		}
	}
}
