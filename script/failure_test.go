package script

import (
	"strings"
	"testing"
)

// C65: a script that fails for want of a variable says which. No value is shown.
func TestLacking(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "SET_TOKEN=hidden-value", "GIT_TOKEN=x")
	for name, want := range map[string]string{"SET_TOKEN": " (it reads SET_TOKEN, which is set but not granted to it)", "GONE": " (it reads GONE, which is not set)", "GIT_TOKEN": ""} {
		_, err := runAs(t, h, open(t, "", tree{"scripts/a.py": "import os\nos.environ['" + name + "']\n"}), "a", nil)
		e := failure(t, err, ExecutionFailed, "")
		if line, _, _ := strings.Cut(e.Message, "\n"); line != "Script failed with exit code 1"+want || strings.Contains(e.Message, "hidden-value") {
			t.Errorf("%s: got %q", name, e.Message)
		}
	}
}
