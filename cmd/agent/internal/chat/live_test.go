package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// The last lines of a command stand below it while it runs, and nothing of them stays.
func TestLastLinesOfACommand(t *testing.T) {
	k := newTalk(t, 60, &Options{})
	k.press("go<enter>")
	c := k.call("bash", `{"command":"make test"}`)
	write := func(text string) {
		k.happen(stepsEvent{live: []LiveText{{Call: c.ID, Text: text}, {Call: "another", Text: "no\n"}}})
	}
	write("ok a\nok b\nok c\n")
	k.wait(2 * time.Second)
	write("10 %\r20 %\x1b[31m" + strings.Repeat("x", 80))
	k.check(t, `
> go
────

● bash make test  2.0 s  #1
  ok b
  ok c
  20 %`+`\x1b[31m`+strings.Repeat("x", 44)+`…

> █
2 s, Esc stops
`)
	k.result(c, tool.CauseStopped.Failure("stopped"), "{}")
	k.check(t, `
> go

● bash make test  2.0 s  stopped by you  #1
────

> █
2 s, Esc stops
`)
}

// What a command writes reaches the screen in frames, of bounded size, and after the step that calls it.
func TestFeedOfOutput(t *testing.T) {
	var events []event
	f := &feed{send: func(e event) { events = append(events, e) }}
	f.add(agent.Step{Call: &llm.Call{ID: "1"}})
	for range 1000 {
		f.write(LiveText{Call: "1", Text: strings.Repeat("x", 1000)})
	}
	f.write(LiveText{Call: "1", Text: "end"})
	if !f.flush() || f.flush() {
		t.Error("the output is not one frame")
	}
	e := events[0].(stepsEvent)
	n := 0
	for _, l := range e.live {
		n += len(l.Text)
	}
	if len(events) != 1 || len(e.steps) != 1 || n > mostLive || e.live[len(e.live)-1].Text != "end" {
		t.Errorf("%d events, %d steps, %d bytes", len(events), len(e.steps), n)
	}
}
