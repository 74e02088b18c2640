package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// A sub-agent is a row with what it does now below it; its calls are printed when they have ended. With several, each call says whose it is.
func TestSubAgents(t *testing.T) {
	k := newTalk(t, 50, nil)
	k.press("go<enter>")
	k.say("I ask others.")
	sub := func(of string, steps ...agent.Step) {
		for _, s := range steps {
			s.Depth, s.Of = 1, of
			k.happen(stepsEvent{steps: []agent.Step{s}})
		}
	}
	ask := func(id, kind string) *llm.Call {
		c := &llm.Call{ID: id, Name: "task", Args: json.RawMessage(`{"prompt":"Look around","subagent_type":"` + kind + `"}`)}
		k.happen(stepsEvent{steps: []agent.Step{{Call: c}}})
		return c
	}
	done := func(c *llm.Call) agent.Step {
		return agent.Step{Result: &agent.Result{Call: c, Result: tool.Result{Success: true}}}
	}
	a := ask("a", "explore")
	grep := &llm.Call{ID: "g", Name: "grep", Args: json.RawMessage(`{"pattern":"x"}`)}
	sub("a", agent.Step{Text: "I begin.\n\x1b[2JNow I"}, agent.Step{Text: " look.\n"}, agent.Step{Call: grep})
	k.check(t, `
> go

I ask others.
────

● task explore: Look around  0.0 s  #1
  I begin.
  \x1b[2JNow I look.
  grep x

> █
0 s, Esc stops
`)
	b := ask("b", "mine")
	sub("b", agent.Step{Text: "I am the second."})
	sub("a", done(grep))
	read := &llm.Call{ID: "r", Name: "read_file", Args: json.RawMessage(`{"file_path":"y"}`)}
	sub("b", agent.Step{Call: read}, done(read))
	k.check(t, `
> go

I ask others.

  ● grep x  0.0 s  ok  #2
  ● read_file y  0.0 s  ok  #4 of #3
────
● task explore: Look around  0.0 s  #1
  grep x
● task mine: Look around  0.0 s  #3
  read_file y

> █
0 s, Esc stops
`)
	k.happen(stepsEvent{steps: []agent.Step{done(b), done(a), {Text: "Both are back."}}}, doneEvent{})
	if got := k.screen(); strings.Contains(got, "second") || !strings.Contains(got, "● task mine: Look around  0.0 s  ok  #3\n● task explore") {
		t.Error(got)
	}
}

// A question of one of several sub-agents stands below its own call.
func TestSubAgentAsks(t *testing.T) {
	k := newTalk(t, 60, nil)
	k.press("go<enter>")
	for _, id := range []string{"a", "b", "c"} {
		task := &llm.Call{ID: id, Name: "task", Args: json.RawMessage(`{"prompt":"Look"}`)}
		k.happen(stepsEvent{steps: []agent.Step{{Call: task}}})
	}
	inner := &llm.Call{ID: "i", Name: "read_file", Args: json.RawMessage(`{"file_path":"y"}`)}
	k.happen(stepsEvent{steps: []agent.Step{{Call: inner, Depth: 1, Of: "b"}}})
	q := &question{Question: ui.Question{Text: "Let it?"}, answer: make(chan string, 1)}
	k.happen(askEvent{q})
	if got := k.screen(); strings.Contains(got, "● task") {
		t.Errorf("the question names no call, and one is shown:\n%s", got)
	}
	q.call = "i"
	if got := k.screen(); strings.Count(got, "● task") != 1 || !strings.Contains(got, "#2\n  ● read_file y  0.0 s  #4 of #2\n") {
		t.Errorf("got\n%s", got)
	}
}
