package chat

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
)

// What the model thinks is shown in a few rows until it answers, and does not stay.
func TestThought(t *testing.T) {
	k := newTalk(t, 40, &Options{})
	k.press("go<enter>")
	k.happen(stepsEvent{steps: []agent.Step{{Thought: "first of all\n\nsecond"}, {Thought: "ly \x1b[2J\nthird\nfourth\n"}, {Depth: 1, Thought: "elsewhere"}}})
	if got := k.screen(); !strings.Contains(got, "  secondly \\x1b[2J\n  third\n  fourth\n") || strings.Contains(got, "first") || strings.Contains(got, "elsewhere") {
		t.Errorf("got\n%s", got)
	}
	k.happen(stepsEvent{steps: []agent.Step{{Thought: strings.Repeat("界", maxThought)}}})
	if got := k.screen(); strings.Count(got, "界") > mostThought*19 || len(k.thought) > maxThought {
		t.Errorf("got\n%s", got)
	}
	k.happen(stepsEvent{steps: []agent.Step{{Thought: "stopped"}}}, doneEvent{errors.New("x")})
	if got := k.screen(); strings.Contains(got, "stopped") {
		t.Errorf("got\n%s", got)
	}
	k.press("go<enter>")
	for _, step := range []agent.Step{{Text: "done"}, {Done: &agent.Answer{Stop: agent.End}}, {Anew: true}} {
		k.happen(stepsEvent{steps: []agent.Step{{Thought: "hm"}, step}})
		if got := k.screen(); strings.Contains(got, "hm") {
			t.Errorf("after %+v: got\n%s", step, got)
		}
	}
}
