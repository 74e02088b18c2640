package script

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/script/runner"
)

// security 2.15 SB11: a script that fills the folders that are its own is ended, and the error says why. What an earlier run left
// there counts.
func TestDisk(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": `
import os, sys, time
with open(os.environ[sys.argv[1]] + "/" + sys.argv[2], "wb") as f: f.write(b"x" * (3 << 20))
time.sleep(float(sys.argv[3]))
print("{}")
`})
	for _, name := range []string{"AGENT_SKILL_WORK_DIR", "TMPDIR", "HOME", "AGENT_SKILL_CACHE_DIR"} {
		h := host(t)
		h.Disk, h.Files = 5<<20, 1000
		if _, err := runAs(t, h, s, "a", &RunOptions{Args: []string{"AGENT_SKILL_CACHE_DIR", "one", "0.3"}}); err != nil {
			t.Fatal(err)
		}
		_, err := runAs(t, h, s, "a", &RunOptions{Args: []string{name, "two", "30"}})
		e := failure(t, err, ExecutionFailed, "")
		const want = "(its home and the other folders of its own hold more than 5242880 bytes or 1000 files together)"
		if !strings.Contains(e.Message, want) {
			t.Errorf("%s: got %q", name, e.Message)
		}
	}
}

// security 2.5 #66: a script that takes all processes that it may have is told so, whether it failed or was too slow.
func TestCrowded(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": "true"})
	for _, out := range []runner.Output{{ExitCode: 137, Signal: "killed", Crowded: true}, {TimedOut: true, Crowded: true}} {
		h := host(t)
		h.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
			c.Limits.Processes = 7
			return &out, nil
		})
		_, err := runAs(t, h, s, "a", nil)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "(it had all of the 7 processes that it may have, and asked for more)") {
			t.Errorf("%+v: got %v", out, err)
		}
	}
}
