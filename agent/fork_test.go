package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

func forking() tool.Tool {
	return tool.Tool{Name: "delegate", Call: func(context.Context, json.RawMessage) tool.Result {
		r := tool.Success(nil, "")
		r.Fork = &tool.Fork{Skill: "deep", Prompt: "find it", Model: "small", Agent: "explore"}
		return r
	}}
}

// R129: a tool's wish for a fork is answered by a sub-agent.
func TestFork(t *testing.T) {
	m := scripted(t, calls(call("a", "delegate", `{}`)), calls(call("a", "echo", `{}`)), says("found"), says("done"))
	var kinds []trace.Kind
	tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if e.Skill == "deep" {
			kinds = append(kinds, e.Kind)
		}
	})
	c := New(&Options{Model: m, Tools: executor(t, echo(), forking()), System: "sys", Trace: tracer,
		Turn: func(context.Context, string) string { return "news" }})
	steps, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Text != "done" || a.Turns != 4 || a.Usage.Input != 40 || c.Usage() != a.Usage {
		t.Fatalf("got %+v, %v", a, err)
	}
	depths := ""
	for _, s := range steps {
		depths += string(rune('0' + s.Depth))
	}
	if want := "001111100" + "0"; depths != want {
		t.Errorf("depths: got %s, want %s", depths, want)
	}
	r := m.last.Messages[2].Parts[0].Result
	if r.Failed || !strings.HasPrefix(r.Text, `{"success":true,"result":{"answer":"found"},"message":"a sub-agent answered"`) {
		t.Errorf("result: %+v", r)
	}
	if !strings.Contains(m.asked[1], `"messages":[{"role":"user","parts":[{"text":"find it"}]}]`) {
		t.Errorf("the sub-agent was asked %s", m.asked[1])
	}
	if len(kinds) != 1 || kinds[0] != AgentForked {
		t.Errorf("events: %v", kinds)
	}
}

func TestForkOptions(t *testing.T) {
	sub := scripted(t, says("from the small one"))
	m := scripted(t, calls(call("a", "delegate", `{}`)), says("done"))
	var asked tool.Fork
	c := New(&Options{Model: m, Tools: executor(t, forking()), Fork: func(_ context.Context, f tool.Fork) (*Options, error) {
		asked = f
		return &Options{Model: sub, System: "other", MaxTurns: 500}, nil
	}})
	if _, _, err := collect(t, c, t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if asked.Model != "small" || asked.Agent != "explore" || sub.last.System != "other" || len(sub.last.Tools) != 0 {
		t.Errorf("asked for %+v, the sub-agent got %+v", asked, sub.last)
	}
}

func TestForkFailures(t *testing.T) {
	one, refused := calls(call("a", "delegate", `{}`)), reply{events: []llm.Event{{Text: "I won't"}, {Stop: llm.StopRefused}}}
	chatty := calls(call("b", "echo", `{}`))
	chatty.events = append([]llm.Event{{Text: "so far"}}, chatty.events...)
	tests := []struct {
		name    string
		o       Options
		replies []reply
		want    []string
	}{
		{"a fork in a fork", Options{}, []reply{one, one, says("alone"), says("done")}, []string{`"answer":"alone"`}},
		{"the model fails", Options{}, []reply{one, {err: overloaded()}, says("done")},
			[]string{`"reason":"fork_failed"`, "the sub-agent did not finish: busy"}},
		{"it is refused", Options{}, []reply{one, refused, says("done")}, []string{"did not finish (refused)", `"answer":"I won't"`}},
		{"its turns are the parent's", Options{MaxTurns: 3}, []reply{one, chatty, says("done")}, []string{"did not finish (turns)", `"answer":"so far"`}},
		{"no turn is left", Options{MaxTurns: 2}, []reply{one, says("done")}, []string{"leaves none for a sub-agent"}},
		{"its tokens are the parent's", Options{MaxTokens: 50}, []reply{one, chatty, says("done")}, []string{"did not finish (tokens)"}},
		{"no options", Options{Fork: func(context.Context, tool.Fork) (*Options, error) { return nil, errors.New("no such agent") }},
			[]reply{one, says("done")}, []string{"no such agent"}},
		{"nil options", Options{Fork: func(context.Context, tool.Fork) (*Options, error) { return nil, nil }},
			[]reply{one, says("done")}, []string{`"reason":"fork_failed"`, "no model for this sub-agent"}},
		{"options without a model", Options{Fork: func(context.Context, tool.Fork) (*Options, error) { return &Options{System: "other"}, nil }},
			[]reply{one, says("done")}, []string{`"reason":"fork_failed"`, "no model for this sub-agent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted(t, tt.replies...)
			tt.o.Model, tt.o.Tools = m, executor(t, echo(), forking())
			c := New(&tt.o)
			steps, _, err := collect(t, c, t.Context(), "go")
			if err != nil {
				t.Fatal(err)
			}
			result := ""
			for _, s := range steps {
				if s.Result != nil && s.Depth == 0 {
					result = s.Result.Text
				}
			}
			for _, want := range tt.want {
				if !strings.Contains(result, want) {
					t.Errorf("got %s, want %s in it", result, want)
				}
			}
			if strings.Contains(tt.name, "in a fork") && !strings.Contains(m.asked[2], "cannot start another one") {
				t.Errorf("the sub-agent was not told: %s", m.asked[2])
			}
		})
	}
}

// Cancelling ends the sub-agent and its parent, and both histories stay whole.
func TestForkCancelled(t *testing.T) {
	for _, how := range []string{"cancel", "break"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := scripted(t, calls(call("a", "delegate", `{}`), call("b", "echo", `{}`)), calls(call("a", "echo", `{}`)), says("next"))
			c := New(&Options{Model: m, Tools: executor(t, echo(), forking())})
			for s := range c.Ask(ctx, "go") {
				if s.Depth == 0 || s.Call == nil {
					continue
				}
				if how == "break" {
					break
				}
				cancel()
			}
			if fault := invalid(c.Messages()); fault != "" {
				t.Error(fault)
			}
			if got := c.Usage().Input; got != 20 {
				t.Errorf("got %d tokens of input, want 20", got)
			}
			if _, a, err := collect(t, c, t.Context(), "more"); err != nil || a.Text != "next" {
				t.Errorf("the next prompt: %+v, %v", a, err)
			}
		})
	}
}
