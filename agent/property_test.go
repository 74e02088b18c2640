package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// wild is a model that answers anything: calls with any id and arguments, states, silence, failures, streams that end
// without a reason. It holds each request to what providers take, and to the requests before it.
type wild struct {
	t      *rapid.T
	prefix string
	sent   []llm.Message // of the last request; nil when the history may have changed
	cancel func()
}

func (w *wild) Stream(_ context.Context, r *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if r.System != summarySystem {
			w.check(r)
		}
		for range rapid.IntRange(0, 4).Draw(w.t, "events") {
			if !yield(w.event(), nil) {
				return
			}
			if rapid.IntRange(0, 30).Draw(w.t, "cancel") == 0 {
				w.cancel()
			}
		}
		w.end(yield)
	}
}

func (w *wild) check(r *llm.Request) {
	if fault := invalid(r.Messages); fault != "" {
		w.t.Fatalf("a request with %s", fault)
	}
	if r.Messages[len(r.Messages)-1].Role != llm.User {
		w.t.Fatalf("a request that ends with the assistant")
	}
	prefix := encode(w.t, r.System) + encode(w.t, r.Tools)
	if w.prefix != "" && prefix != w.prefix {
		w.t.Fatalf("the prefix changed:\n%s\n%s", w.prefix, prefix)
	}
	w.prefix = prefix
	before, now := w.sent, r.Messages
	w.sent = slices.Clone(r.Messages)
	if len(before) == 0 {
		return
	}
	if len(now) < len(before) {
		w.t.Fatalf("%d messages became %d", len(before), len(now))
	}
	last := len(before) - 1
	now = slices.Clone(now[:last+1])
	now[last].Parts = now[last].Parts[:min(len(now[last].Parts), len(before[last].Parts))]
	if a, b := encode(w.t, before), encode(w.t, now); a != b {
		w.t.Fatalf("the history changed:\n%s\n%s", a, b)
	}
}

func encode(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (w *wild) event() llm.Event {
	switch rapid.IntRange(0, 5).Draw(w.t, "event") {
	case 0, 1:
		return llm.Event{Text: rapid.SampledFrom([]string{"a", " ", "\n", "some words", strings.Repeat("long ", 300)}).Draw(w.t, "text")}
	case 2:
		return llm.Event{State: &llm.State{Owner: "x", Data: json.RawMessage(`1`)}}
	}
	c := call(rapid.SampledFrom([]string{"", "a", "b", "call_1", "call_2"}).Draw(w.t, "id"),
		rapid.SampledFrom([]string{"echo", "long", "delegate", "boom", "nope"}).Draw(w.t, "name"),
		rapid.SampledFrom([]string{"{}", "", `{"x":1}`, "[]", "{"}).Draw(w.t, "args"))
	c.Raw = rapid.SampledFrom([]string{"", "", "", "{"}).Draw(w.t, "raw")
	return llm.Event{Call: c}
}

func (w *wild) end(yield func(llm.Event, error) bool) {
	if rapid.Bool().Draw(w.t, "counts") {
		n := rapid.IntRange(0, 5000).Draw(w.t, "input")
		if !yield(llm.Event{Usage: &llm.Usage{Input: n, Output: 7}}, nil) {
			return
		}
	}
	switch rapid.IntRange(0, 9).Draw(w.t, "end") {
	case 0: // cut
	case 1:
		kind := rapid.SampledFrom([]llm.ErrorKind{llm.TooLong, llm.Overloaded, llm.BadKey, llm.TimedOut}).Draw(w.t, "kind")
		yield(llm.Event{}, &llm.Error{Kind: kind, Message: "failure"})
	case 2:
		yield(llm.Event{}, errors.New("of another kind"))
	default:
		stops := []llm.StopReason{llm.StopEnd, llm.StopCalls, llm.StopLength, llm.StopRefused}
		yield(llm.Event{Stop: rapid.SampledFrom(stops).Draw(w.t, "stop")}, nil)
	}
}

// Whatever models, tools and readers do, the history is one that every provider takes, and it only grows as long as
// it is not shortened.
func TestHistoryIsAlwaysValid(t *testing.T) {
	boom := tool.Tool{Name: "boom", Call: func(context.Context, json.RawMessage) tool.Result { panic("inside") }}
	e := executor(t, echo(), long(), forking(), boom)
	rapid.Check(t, func(t *rapid.T) {
		w := &wild{t: t}
		sub := &wild{t: t, cancel: func() { w.cancel() }}
		o := &Options{Model: w, Tools: e, System: "sys", MaxTurns: rapid.IntRange(1, 6).Draw(t, "turns"),
			MaxTokens: rapid.SampledFrom([]int{0, 0, 20_000}).Draw(t, "tokens"),
			Window:    rapid.SampledFrom([]int{0, 3000, 6000}).Draw(t, "window"),
			Turn:      func(_ context.Context, p string) string { return strings.TrimPrefix(p, "p") + " " },
			Carry:     func(context.Context) string { return "carried" },
			Fork: func(context.Context, tool.Fork) (*Options, error) {
				sub.sent, sub.prefix = nil, ""
				return &Options{Model: sub, Tools: e, Trace: forget(sub)}, nil
			},
			Trace: forget(w)}
		c := New(o)
		for range rapid.IntRange(1, 5).Draw(t, "prompts") {
			turnOf(t, c, w)
			if fault := invalid(c.Messages()); fault != "" {
				t.Fatalf("the history has %s", fault)
			}
			switch rapid.IntRange(0, 5).Draw(t, "between") {
			case 0:
				w.cancel = func() {}
				_, _ = c.Compact(t.Context())
			case 1:
				o.History = c.Messages()
				c = New(o)
				if got, want := encode(t, c.Messages()), encode(t, o.History); len(o.History) > 0 && got != want {
					t.Fatalf("repaired a valid history:\n%s\n%s", want, got)
				}
			}
			if fault := invalid(c.Messages()); fault != "" {
				t.Fatalf("the history has %s", fault)
			}
		}
	})
}

// forget makes w expect another history after a shortening.
func forget(w *wild) trace.Tracer {
	return trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if e.Kind == ConversationShortened {
			w.sent = nil
		}
	})
}

// turnOf asks one prompt and may break off or cancel at any step.
func turnOf(t *rapid.T, c *Conversation, w *wild) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.cancel = cancel
	prompt := rapid.SampledFrom([]string{"p", "pnews", "p" + strings.Repeat("x", 5000)}).Draw(t, "prompt")
	left := rapid.IntRange(0, 60).Draw(t, "steps")
	var sum llm.Usage
	for s, err := range c.Ask(ctx, prompt) {
		if s.Usage != nil {
			sum = sum.Add(*s.Usage)
		}
		if s.Done != nil {
			if err != nil {
				w.sent = nil // the prompt may have been taken back
			}
			if stopped := s.Done.Stop == Cancelled || s.Done.Stop == Failed; stopped != (err != nil) {
				t.Fatalf("stop %q with %v", s.Done.Stop, err)
			}
			if sum != s.Done.Usage {
				t.Fatalf("the steps cost %+v, the turn %+v", sum, s.Done.Usage)
			}
		}
		if left--; left < 0 {
			return
		}
	}
}
