package app

import (
	"fmt"
	"testing"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/nodeenv"
	"github.com/agent-base/agent-base/script/pyenv"
)

// What to type after packages could not be prepared: nothing if preparing needs a program that is not installed.
func TestScriptCureOfPackages(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("no network"), "agent skill prepare report"},
		{pyenv.ErrNoUV, ""},
		{fmt.Errorf("package.json has no lock, and %w", nodeenv.ErrNoNPM), ""},
		{fmt.Errorf("x: %w", &program.DroppedError{Path: "/work/uv", Reason: "is in the project"}), ""},
		{pyenv.ErrLargeDownload, "agent skill prepare report --large"},
		{pyenv.ErrTooLarge, ""},
		{&pyenv.NoWheelError{Package: "old"}, "agent skill prepare report --build old"},
	} {
		err := &script.Error{Code: script.ExecutionFailed, Reason: script.ReasonDependencies, Err: tt.err}
		if got := ScriptCure(err, "Report"); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.err, got, tt.want)
		}
	}
}
