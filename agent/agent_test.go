package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// reply is one scripted answer of a model: its events, then err if there is one.
type reply struct {
	events []llm.Event
	err    error
}

func says(text string) reply {
	return reply{events: []llm.Event{{Text: text}, {Usage: &llm.Usage{Input: 10, Output: 2}}, {Stop: llm.StopEnd}}}
}

func calls(calls ...*llm.Call) reply {
	var r reply
	for _, c := range calls {
		r.events = append(r.events, llm.Event{Call: c})
	}
	r.events = append(r.events, llm.Event{Usage: &llm.Usage{Input: 10, Output: 2}}, llm.Event{Stop: llm.StopCalls})
	return r
}

func call(id, name, args string) *llm.Call {
	return &llm.Call{ID: id, Name: name, Args: json.RawMessage(args)}
}

// fake plays replies, one per request, and keeps each request as it was encoded.
type fake struct {
	t       interface{ Errorf(string, ...any) }
	replies []reply
	asked   []string
	last    llm.Request
}

func (f *fake) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		b, err := json.Marshal(r)
		if err != nil {
			f.t.Errorf("request: %v", err)
		}
		f.asked, f.last = append(f.asked, string(b)), *r
		if fault := invalid(r.Messages); fault != "" {
			f.t.Errorf("request %d: %s", len(f.asked), fault)
		}
		n := len(f.asked) - 1
		if n >= len(f.replies) {
			yield(llm.Event{}, errors.New("the script has no more answers"))
			return
		}
		for _, e := range f.replies[n].events {
			if ctx.Err() != nil {
				yield(llm.Event{}, ctx.Err())
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := f.replies[n].err; err != nil {
			yield(llm.Event{}, err)
		}
	}
}

func scripted(t *testing.T, replies ...reply) *fake { return &fake{t: t, replies: replies} }

// invalid returns what a provider would refuse of a history, or "".
func invalid(messages []llm.Message) string {
	role, open, ids := llm.User, []string(nil), map[string]bool{}
	for _, m := range messages {
		if m.Role != role {
			return "the sides do not alternate"
		}
		if len(m.Parts) == 0 {
			return "a message without content"
		}
		var next []string
		for j, p := range m.Parts {
			switch {
			case p.Call != nil:
				if m.Role != llm.Assistant || !json.Valid(p.Call.Args) || p.Call.ID == "" {
					return "a call that is not one"
				}
				if ids[p.Call.ID] {
					return "an id that comes twice: " + p.Call.ID
				}
				ids[p.Call.ID] = true
				next = append(next, p.Call.ID)
			case p.Result != nil:
				if j >= len(open) || open[j] != p.Result.ID {
					return "a result without its call: " + p.Result.ID
				}
			case p.State == nil && p.Media == nil && strings.TrimSpace(p.Text) == "":
				return "an empty part"
			}
		}
		for j := range open {
			if j >= len(m.Parts) || m.Parts[j].Result == nil {
				return "a call without its result: " + open[j]
			}
		}
		open = next
		if role = llm.Assistant; m.Role == llm.Assistant {
			role = llm.User
		}
	}
	if len(open) > 0 {
		return "a call without its result at the end: " + open[0]
	}
	return ""
}

// executor has the tools of the tests.
func executor(t testing.TB, tools ...tool.Tool) *tool.Executor {
	t.Helper()
	var s tool.Set
	for _, x := range tools {
		if err := s.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	return &tool.Executor{Tools: &s}
}

func echo() tool.Tool {
	return tool.Tool{Name: "echo", Description: "gives back", Input: json.RawMessage(`{"type":"object"}`),
		Call: func(_ context.Context, args json.RawMessage) tool.Result { return tool.Success(args, "echoed") }}
}

// collect reads a turn to its end.
func collect(t *testing.T, c *Conversation, ctx context.Context, prompt string) ([]Step, *Answer, error) {
	t.Helper()
	var steps []Step
	for s, err := range c.Ask(ctx, prompt) {
		if s.Done != nil {
			return steps, s.Done, err
		}
		steps = append(steps, s)
	}
	t.Fatal("the turn ended without an answer")
	return nil, nil, nil
}

func TestAsk(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{"x":1}`)), says("done"), says("again"))
	c := New(&Options{Model: m, Tools: executor(t, echo()), System: "sys"})
	steps, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Text != "done" || a.Stop != End || a.Turns != 2 || a.Usage.Input != 20 {
		t.Fatalf("got %+v, %v", a, err)
	}
	var kinds []string
	for _, s := range steps {
		switch {
		case s.Text != "":
			kinds = append(kinds, "text")
		case s.Call != nil:
			kinds = append(kinds, "call")
		case s.Result != nil:
			kinds = append(kinds, "result")
		case s.Usage != nil:
			kinds = append(kinds, "usage")
		}
	}
	if got, want := strings.Join(kinds, " "), "usage call result text usage"; got != want {
		t.Errorf("steps: got %s, want %s", got, want)
	}
	if _, a, err = collect(t, c, t.Context(), "more"); err != nil || a.Text != "again" {
		t.Errorf("second turn: got %+v, %v", a, err)
	}
	if got := len(c.Messages()); got != 6 {
		t.Errorf("got %d messages, want 6", got)
	}
	if got := c.Usage().Output; got != 6 {
		t.Errorf("got %d tokens of output in all, want 6", got)
	}
}
