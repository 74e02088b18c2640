package worker

import (
	"io"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skilltool"
)

// C65: a conversation says once that scripts are not confined here.
func TestUnconfinedIsSaidOnce(t *testing.T) {
	w := &worker{s: app.New(&app.System{Home: t.TempDir()}, &app.Flags{}, &ui.Streams{Out: io.Discard, Err: io.Discard})}
	ran := func(tier string) agent.Step {
		r := skilltool.RunResult{Script: "x", Sandbox: runner.Sandbox{Tier: tier}}
		return agent.Step{Result: &agent.Result{Result: r.Envelope()}}
	}
	failed := agent.Step{Result: &agent.Result{Result: skilltool.Failure(&script.Error{Sandbox: &runner.Sandbox{Tier: "E"}})}}
	for i, c := range []struct {
		step agent.Step
		want string
	}{{agent.Step{Text: "x"}, ""}, {agent.Step{Result: &agent.Result{}}, ""}, {ran("A"), ""}, {failed, "no sandbox for them"}, {ran("C"), ""}} {
		if got := w.unconfined(c.step); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
}
