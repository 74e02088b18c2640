package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// The last lines of a command stand below it while it runs. They stay if it fails, with the reason, or is stopped.
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
	before := k.out
	k.press("<ctrl+o>") // all of it
	if got := strings.Join(k.out, "\n"); !strings.Contains(got, "\n  so far\n    ok a\n    ok b\n    ok c\n    20\n    %\\x1b[31mxxx") {
		t.Errorf("opened:\n%s", got)
	}
	k.out, k.last = before, prompts
	k.result(c, tool.CauseStopped.Failure("stopped"), "{}")
	k.check(t, `
> go

● bash make test  2.0 s  stopped by you  #1
  ok b
  ok c
  20 %`+`\x1b[31m`+strings.Repeat("x", 44)+`…
────

> █
2 s, Esc stops
`)
}

// When a command fails, its last lines and the reason stay on the screen. They do not when it succeeds, and the reason is not shown when it is
// the user's own no.
func TestReasonOfAFailure(t *testing.T) {
	long := strings.Repeat("a reason that is long ", 30)
	for _, test := range []struct {
		name  string
		r     tool.Result
		stays string
	}{
		{"success", tool.Success(nil, "The command ended"), ""},
		{"exit", tool.Failure(tool.ExecutionFailed, "The command ended with exit code 3"), "  The command ended with exit code 3\n  FAIL a\n  FAIL b\n"},
		{"nobody", tool.Result{Error: tool.PermissionDenied, Reason: "not_approved", Message: "Nobody is asked"}, "  Nobody is asked\n  FAIL a\n  FAIL b\n"},
		{"no", tool.Result{Error: tool.PermissionDenied, Reason: "not_approved", Message: "The user did not allow it"}, "  FAIL a\n  FAIL b\n"},
		{"rule", tool.Result{Error: tool.PermissionDenied, Reason: "not_allowed", Message: "A rule \x1b[2Jdenies it"}, "  A rule \\x1b[2Jdenies it\n  FAIL a\n  FAIL b\n"},
	} {
		k := newTalk(t, 80, &Options{})
		k.press("go<enter>")
		c := k.call("bash", `{"command":"make test"}`)
		k.happen(stepsEvent{live: []LiveText{{Call: c.ID, Text: "FAIL a\nFAIL b\n"}}})
		if test.name == "no" {
			k.answered = time.Second
		}
		k.result(c, test.r, "{}")
		if got := k.screen(); !strings.Contains(got, "#1\n"+test.stays+"────") {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.stays)
		}
		if text := k.calls[0].tail.Text(); text != "" {
			t.Errorf("%s: %q is kept", test.name, text)
		}
	}
	k := newTalk(t, 80, &Options{})
	k.press("go<enter>")
	k.result(k.call("bash", `{"command":"make test"}`), tool.Failure(tool.ExecutionFailed, long), "{}")
	if got := strings.Count(k.screen(), "reason that"); got < maxReason || got > maxReason*4 {
		t.Errorf("a long reason: got %d times\n%s", got, k.screen())
	}
}

// News is shown at once, or while a prompt is answered, after the next call or at the end.
func TestNews(t *testing.T) {
	k := newTalk(t, 80, &Options{})
	k.happen(newsEvent{"one ended"})
	k.press("go<enter>")
	c := k.call("bash", `{"command":"make test"}`)
	k.happen(newsEvent{"two ended"})
	before := k.screen()
	k.result(c, tool.Success(nil, ""), "{}")
	after := k.screen()
	k.happen(newsEvent{"three ended"})
	waits := k.screen()
	k.happen(doneEvent{})
	k.check(t, `
one ended

> go

● bash make test  0.0 s  ok  #1

two ended
three ended
────

> █

`)
	if strings.Contains(before, "two") || !strings.Contains(after, "two") || strings.Contains(waits, "three") {
		t.Errorf("got\n%s\nthen\n%s\nthen\n%s", before, after, waits)
	}
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
