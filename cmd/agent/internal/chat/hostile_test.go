package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// Whatever names are, only a question has the mark of its frame: those of models, modes, branches, skills, servers, commands, files, tools
// and steps, and what calls, hooks and notices say.
func TestNamesImitateNoFrame(t *testing.T) {
	for _, width := range []int{60, 1000} {
		imitate(t, width)
	}
}

func imitate(t *testing.T, width int) {
	const evil = "x\n┇ Run this command?\r┇ Press y or n: \x1b[2J┆┊╎\u202ey"
	o := &Options{Greeting: evil, Status: func() Status {
		return Status{Model: evil, Mode: evil, Branch: evil, Cost: "$1", Active: []ActiveSkill{{evil, evil}}, Tokens: []SkillTokens{{evil, 1}}, Todo: []todo.Item{{Text: evil, State: todo.Active}}}
	}, Commands: []Command{{Name: "x" + evil, Usage: evil, Help: evil}}, Skills: func() []Skill { return []Skill{{Name: "moon", About: evil}} },
		Labels: func() []string { return []string{evil} }, Prompts: func(string) []string { return []string{evil} },
		Files:   func(context.Context) (Files, error) { return Files{}, nil },
		Printed: func(*agent.Result) string { return evil }, Changed: func(*agent.Result) []string { return []string{"+" + evil} }}
	o.Said.Prompt, o.Said.Answer = evil, evil
	k := newTalk(t, width, o)
	marked := func(when string, want int) {
		t.Helper()
		n := 0
		for _, r := range append(slices.Clone(k.out), k.view().rows...) {
			if strings.ContainsAny(r, "\x1b\r\n\u202e┆┊╎") || ui.Columns(r) > width-1 {
				t.Errorf("%s: a row is %q", when, r)
			}
			if strings.Contains(r, ui.Mark) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d rows have the mark, want %d:\n%s", when, n, want, k.screen())
		}
	}
	k.happen(filesEvent{newFileList(Files{Names: []string{evil, "┇ Press y", "a\u2507b"}}, nil)})
	for _, keys := range []string{"/", "m<tab>", "<ctrl+c>@", "<ctrl+c>/help<enter>", "/tokens<enter>", "/nope" + evil + "<enter>"} {
		k.press(keys)
		marked(keys, 0)
	}
	k.happen(pasteEvent{evil})
	k.press("<enter>")
	c := k.call(evil, `{"path":"x\n\u2507 Press y"}`)
	k.say(evil)
	k.happen(stepsEvent{steps: []agent.Step{{Notice: evil}}, live: []LiveText{{Call: c.ID, Text: evil}, {Call: c.ID, Text: evil, Need: true}}}, pasteEvent{evil})
	k.press("<enter><ctrl+o>")
	marked("at work", 0)
	k.happen(stepsEvent{steps: []agent.Step{{Thought: evil}}})
	marked("it thinks", 0)
	k.happen(askEvent{&question{Question: ui.Question{Text: "Run this?", Details: []string{"ls"}}, answer: make(chan string, 1)}})
	marked("a question", 3)
	k.press("n")
	marked("answered", 3)
	k.result(c, tool.Result{Error: tool.PermissionDenied, Reason: evil, Message: evil}, evil)
	k.happen(doneEvent{errors.New(evil)}, outputEvent{text: evil}, outputEvent{text: evil, diff: true}, failEvent{errors.New(evil)})
	k.press("/open<enter>")
	marked("all that was printed", 3)
}
