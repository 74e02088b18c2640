package script

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill/manifest"
)

// R127: a hook runs like a script of the skill, with a document on its standard input, and its exit code is its answer.
func TestRunHook(t *testing.T) {
	s := open(t, "", tree{
		"hooks/pre.sh": "read line; echo \"got $line\" >&2; exit 3\n",
		"hooks/py.py":  "import sys; print(len(sys.stdin.read()))\n",
	})
	h := host(t)
	h.Workspace = t.TempDir()
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name           string
		hook           manifest.Hook
		input          string
		exit           int
		stdout, stderr string
	}{
		{"a script", manifest.Hook{Event: "pre", Script: "hooks/pre.sh"}, "{}\n", 3, "", "got {}\n"},
		{"a script in another language", manifest.Hook{Event: "pre", Script: "hooks/py.py"}, strings.Repeat("x", runner.MaxStdin), 0, "1048576\n", ""},
		{"a command", manifest.Hook{Event: "Stop", Command: `cat; echo "|$CLAUDE_SKILL_DIR|$CLAUDE_PLUGIN_ROOT|$CLAUDE_PROJECT_DIR"`}, "in", 0,
			"in|" + dir + "|" + dir + "|" + h.Workspace + "\n", ""},
		{"a command that reads nothing", manifest.Hook{Event: "Stop", Command: "exit 2"}, strings.Repeat("x", runner.MaxStdin), 2, "", ""},
		{"no input", manifest.Hook{Event: "Stop", Command: "cat"}, "", 0, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := h.host().RunHook(t.Context(), s, &HookOptions{Hook: tt.hook, Input: []byte(tt.input)})
			if err != nil {
				t.Fatal(err)
			}
			if out.ExitCode != tt.exit || string(out.Stdout) != tt.stdout || string(out.Stderr) != tt.stderr || out.Sandbox.Tier != "off" {
				t.Errorf("got %d %q %q %v", out.ExitCode, out.Stdout, out.Stderr, out.Sandbox)
			}
		})
	}
}

func TestRunHookFails(t *testing.T) {
	s := open(t, "", tree{"hooks/pre.sh": ""})
	for _, tt := range []struct {
		name string
		o    HookOptions
		want string
	}{
		{"no such script", HookOptions{Hook: manifest.Hook{Event: "pre", Script: "hooks/none.sh"}}, "not found"},
		{"too much input", HookOptions{Hook: manifest.Hook{Event: "Stop", Command: "true"}, Input: make([]byte, runner.MaxStdin+1)}, "too large"},
		{"too slow", HookOptions{Hook: manifest.Hook{Event: "Stop", Command: "sleep 60"}, Timeout: 100 * time.Millisecond}, "timed out"},
	} {
		_, err := host(t).host().RunHook(t.Context(), s, &tt.o)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	if err := (&runner.Command{Path: "/x", Dir: "/", Args: []string{"x"}, Timeout: 1, Stdin: make([]byte, runner.MaxStdin+1)}).Check(); err == nil {
		t.Error("a command with too much input is run")
	}
}
