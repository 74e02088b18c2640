package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

func overloaded() error { return &llm.Error{Kind: llm.Overloaded, Message: "busy"} }

func TestStops(t *testing.T) {
	ends := func(text string, stop llm.StopReason) reply {
		var r reply
		if text != "" {
			r.events = append(r.events, llm.Event{Text: text})
		}
		r.events = append(r.events, llm.Event{Stop: stop})
		return r
	}
	loop := calls(call("", "echo", `{}`))
	chatty := calls(call("", "echo", `{}`))
	chatty.events = append([]llm.Event{{Text: "looking"}}, chatty.events...)
	tests := []struct {
		name    string
		o       Options
		replies []reply
		stop    Stop
		text    string
		turns   int
	}{
		{"an answer", Options{}, []reply{ends("yes", llm.StopEnd)}, End, "yes", 1},
		{"nothing said", Options{}, []reply{ends("", llm.StopEnd)}, Empty, "", 1},
		{"nothing said in the end", Options{}, []reply{chatty, ends(" \n", llm.StopEnd)}, Empty, "looking", 2},
		{"a server that announces calls and has none", Options{}, []reply{ends("yes", llm.StopCalls)}, End, "yes", 1},
		{"too long an answer", Options{}, []reply{ends("ye", llm.StopLength)}, Length, "ye", 1},
		{"refused", Options{}, []reply{ends("no", llm.StopRefused)}, Refused, "no", 1},
		{"turns", Options{MaxTurns: 2}, []reply{chatty, loop, ends("x", llm.StopEnd)}, Turns, "looking", 2},
		{"tokens", Options{MaxTokens: 50}, []reply{loop, chatty, ends("x", llm.StopEnd)}, Tokens, "looking", 2},
		{"tokens for not even one request", Options{MaxTokens: 60, System: strings.Repeat("x", 1000)}, nil, Tokens, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted(t, tt.replies...)
			tt.o.Model, tt.o.Tools = m, executor(t, echo())
			c := New(&tt.o)
			_, a, err := collect(t, c, t.Context(), "go")
			if err != nil || a.Stop != tt.stop || a.Text != tt.text || a.Turns != tt.turns {
				t.Errorf("got %+v, %v, want %s, %q after %d requests", a, err, tt.stop, tt.text, tt.turns)
			}
			if fault := invalid(c.Messages()); fault != "" {
				t.Errorf("history: %s", fault)
			}
		})
	}
}

// R127: a turn is continued as long as Continue wants it, a bounded number of times, and each time is reported.
func TestContinue(t *testing.T) {
	for _, tt := range []struct {
		name    string
		texts   []string // that Continue returns
		o       Options
		notices []string
		text    string
		stop    Stop
	}{
		{"not wanted", []string{""}, Options{}, nil, "answer 1", End},
		{"once", []string{"more", " "}, Options{}, []string{"continued (1 of at most 3): more"}, "answer 2", End},
		{"for ever", []string{"a", "b", "c", "d", "e"}, Options{}, []string{"continued (1 of at most 3): a", "continued (2 of at most 3): b",
			"continued (3 of at most 3): c", "the answer stands, because the turn was continued 3 times: d"}, "answer 4", End},
		{"beyond the limit on requests", []string{"a", "b"}, Options{MaxTurns: 1}, []string{"continued (1 of at most 3): a"}, "answer 1", Turns},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := scripted(t, says("answer 1"), says("answer 2"), says("answer 3"), says("answer 4"), says("answer 5"))
			tt.o.Model, tt.o.Continue = m, func(_ context.Context, before int) string { return tt.texts[before] }
			c := New(&tt.o)
			steps, a, err := collect(t, c, t.Context(), "go")
			var notices []string
			for _, s := range steps {
				if s.Notice != "" {
					notices = append(notices, s.Notice)
				}
			}
			if err != nil || a.Stop != tt.stop || a.Text != tt.text || !slices.Equal(notices, tt.notices) {
				t.Errorf("got %+v, %v, notices %q", a, err, notices)
			}
			if fault := invalid(c.Messages()); fault != "" {
				t.Errorf("history: %s", fault)
			}
		})
	}
}

// A server that counts nothing is held to the bound too, by an estimate.
func TestTokensWithoutUsage(t *testing.T) {
	silent := reply{events: []llm.Event{{Call: call("", "echo", `{}`)}, {Stop: llm.StopCalls}}}
	m := scripted(t, silent, silent, silent, silent, silent, silent, silent)
	_, a, err := collect(t, New(&Options{Model: m, Tools: executor(t, echo()), MaxTokens: 300}), t.Context(), "go")
	if err != nil || a.Stop != Tokens || a.Turns < 2 || a.Turns > 5 {
		t.Errorf("got %+v, %v", a, err)
	}
}

// What the provider has in its cache counts as a tenth, both for what was spent and for the request that comes: a large window is not a
// reason to stop in the middle of work.
func TestTokensFromTheCache(t *testing.T) {
	for _, tt := range []struct{ read, limit, turns int }{
		{0, 2_000_000, 6},        // 300,010 each, and so much is expected of the seventh
		{295_000, 2_000_000, 40}, // 34,510 each
		{295_000, 300_000, 8},
	} {
		var replies []reply
		for range tt.turns {
			r := calls(call("", "echo", `{}`))
			r.events[1].Usage = &llm.Usage{Input: 300_000, CacheRead: tt.read, Output: 10}
			replies = append(replies, r)
		}
		m := scripted(t, append(replies, says("done"))...)
		_, a, err := collect(t, New(&Options{Model: m, Tools: executor(t, echo()), MaxTokens: tt.limit, Window: 1_000_000}), t.Context(), "go")
		done := tt.turns == 40
		if err != nil || (a.Stop == Tokens) == done || a.Turns != tt.turns && !done {
			t.Errorf("%+v: got %+v, %v", tt, a, err)
		}
	}
}

// The calls of a refused answer are not run.
func TestRefusedCalls(t *testing.T) {
	ran := false
	x := tool.Tool{Name: "x", Call: func(context.Context, json.RawMessage) tool.Result { ran = true; return tool.Success(nil, "") }}
	m := scripted(t, reply{events: []llm.Event{{Call: call("a", "x", `{}`)}, {Call: call("b", "x", `{}`)}, {Stop: llm.StopRefused}}})
	c := New(&Options{Model: m, Tools: executor(t, x)})
	_, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Stop != Refused || ran {
		t.Errorf("got %+v, %v, ran: %t", a, err, ran)
	}
	if fault := invalid(c.Messages()); fault != "" {
		t.Errorf("history: %s", fault)
	}
}

func TestMaxTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tool.Tool{Name: "slow", Call: func(ctx context.Context, _ json.RawMessage) tool.Result {
			<-ctx.Done()
			return tool.Failure(tool.Timeout, "stopped")
		}}
		m := scripted(t, calls(call("a", "slow", `{}`), call("b", "slow", `{}`)), says("next"))
		c := New(&Options{Model: m, Tools: executor(t, slow), MaxTime: time.Minute})
		start := time.Now()
		_, a, err := collect(t, c, t.Context(), "go")
		if err != nil || a.Stop != Time || time.Since(start) != time.Minute {
			t.Errorf("got %+v, %v after %v", a, err, time.Since(start))
		}
		results := c.Messages()[2].Parts
		if len(results) != 2 || !strings.Contains(results[1].Result.Text, "the time for this prompt is used up") {
			t.Errorf("results: %+v", results)
		}
		if _, a, err := collect(t, c, t.Context(), "go on"); err != nil || a.Text != "next" {
			t.Errorf("the next prompt: %+v, %v", a, err)
		}
	})
}

// The deadline of the caller is the caller's: an error, not MaxTime.
func TestCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tool.Tool{Name: "slow", Call: func(ctx context.Context, _ json.RawMessage) tool.Result {
			<-ctx.Done()
			return tool.Failure(tool.Timeout, "stopped")
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m := scripted(t, calls(call("a", "slow", `{}`)))
		_, a, err := collect(t, New(&Options{Model: m, Tools: executor(t, slow), MaxTime: time.Minute}), ctx, "go")
		if !errors.Is(err, context.DeadlineExceeded) || a.Stop != Cancelled {
			t.Errorf("got %+v, %v", a, err)
		}
	})
}

// Cancelling in the middle of an answer keeps what was said, leaves a valid history, and the next prompt goes well.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := scripted(t, reply{events: []llm.Event{{State: &llm.State{Owner: "x", Data: json.RawMessage(`1`)}}, {Text: "one "},
		{Text: "two "}, {Call: call("a", "echo", `{}`)}, {State: &llm.State{Owner: "x", Data: json.RawMessage(`2`)}}, {Stop: llm.StopCalls}}}, says("fine"))
	c := New(&Options{Model: m, Tools: executor(t, echo())})
	var last error
	var done *Answer
	for s, err := range c.Ask(ctx, "go") {
		if s.Text == "two " {
			cancel()
		}
		done, last = s.Done, err
	}
	if !errors.Is(last, context.Canceled) || done == nil || done.Stop != Cancelled || done.Text != "one two " {
		t.Fatalf("got %+v, %v", done, last)
	}
	got := c.Messages()
	if len(got) != 2 || len(got[1].Parts) != 2 || got[1].Parts[1].Text != "one two " {
		t.Errorf("history: %+v", got)
	}
	if _, a, err := collect(t, c, t.Context(), "more"); err != nil || a.Text != "fine" {
		t.Errorf("the next prompt: %+v, %v", a, err)
	}
}

// Between two calls, too: the second gets a result that says why it was not run.
func TestCancelledBetweenCalls(t *testing.T) {
	for _, how := range []string{"cancel", "break"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := scripted(t, calls(call("a", "echo", `{}`), call("b", "echo", `{}`)), says("fine"))
			c := New(&Options{Model: m, Tools: executor(t, echo())})
			for s := range c.Ask(ctx, "go") {
				if s.Result == nil {
					continue
				}
				if how == "break" {
					break
				}
				cancel()
			}
			results := c.Messages()[2].Parts
			if len(results) != 2 || results[0].Result.Failed || !strings.Contains(results[1].Result.Text, "cancelled by the user") {
				t.Errorf("results: %+v", results)
			}
			if _, a, err := collect(t, c, t.Context(), "more"); err != nil || a.Text != "fine" {
				t.Errorf("the next prompt: %+v, %v", a, err)
			}
		})
	}
}

// The reader may break off at any step.
func TestBreakAnywhere(t *testing.T) {
	for n := range 8 {
		cut := says("broken")
		cut.events, cut.err = cut.events[:1], overloaded()
		m := scripted(t, calls(call("a", "echo", `{}`), call("b", "echo", `{}`)), cut, says("done"), says("more"))
		c := New(&Options{Model: m, Tools: executor(t, echo())})
		i := 0
		for range c.Ask(t.Context(), "go") {
			if i++; i > n {
				break
			}
		}
		if fault := invalid(c.Messages()); fault != "" {
			t.Errorf("after %d steps: %s", n, fault)
		}
		m.replies = append(m.replies[:len(m.asked)], says("next"))
		if _, a, err := collect(t, c, t.Context(), "more"); err != nil || a.Text != "next" {
			t.Errorf("after %d steps: %+v, %v", n, a, err)
		}
	}
}

// A prompt whose first request fails is taken back, but not what its turn told.
func TestFirstRequestFails(t *testing.T) {
	bad := &llm.Error{Kind: llm.BadKey, Message: "no such key"}
	m := scripted(t, reply{err: bad}, says("hello"))
	news := []string{"a skill changed", "", ""}
	c := New(&Options{Model: m, Turn: func(context.Context, string) string { n := news[0]; news = news[1:]; return n }})
	before := c.Size()
	_, a, err := collect(t, c, t.Context(), "hi")
	if !errors.Is(err, bad) || a.Stop != Failed {
		t.Fatalf("got %+v, %v", a, err)
	}
	sent := m.last.Messages
	if got := c.Size() - before; got < 4 || got > 10 {
		t.Errorf("the size grew by %d tokens", got)
	}
	if _, _, err = collect(t, c, t.Context(), "hi"); err != nil {
		t.Fatal(err)
	}
	if got := len(sent[0].Parts); got != 2 {
		t.Errorf("a request that was sent has changed: its message has %d parts", got)
	}
	var texts []string
	for _, p := range c.Messages()[0].Parts {
		texts = append(texts, p.Text)
	}
	if got, want := strings.Join(texts, "|"), "a skill changed|hi"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A later failure loses nothing.
func TestLaterRequestFails(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{}`)), reply{err: overloaded()}, says("hello"))
	c := New(&Options{Model: m, Tools: executor(t, echo())})
	if _, a, err := collect(t, c, t.Context(), "hi"); err == nil || a.Stop != Failed || a.Turns != 2 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if got := len(c.Messages()); got != 3 {
		t.Errorf("got %d messages, want 3", got)
	}
	sent := m.last.Messages
	if _, a, err := collect(t, c, t.Context(), "go on"); err != nil || a.Text != "hello" {
		t.Errorf("the next prompt: %+v, %v", a, err)
	}
	if got := len(sent[2].Parts); got != 1 {
		t.Errorf("a request that was sent has changed: its last message has %d parts", got)
	}
}

// An answer that breaks off is asked for anew, once; what there was of it does not stay.
func TestAnew(t *testing.T) {
	state := &llm.State{Owner: "x", Data: json.RawMessage(`1`)}
	cut := reply{events: []llm.Event{{Text: "half"}, {State: state}}, err: &llm.Error{Kind: llm.Cut, Message: "cut"}}
	c := New(&Options{Model: scripted(t, cut, says("whole"))})
	steps, a, err := collect(t, c, t.Context(), "go")
	if err != nil || a.Text != "whole" || a.Turns != 2 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if len(steps) < 2 || !steps[1].Anew || !strings.Contains(steps[1].Notice, "starts again") {
		t.Errorf("steps: %+v", steps)
	}
	if got := c.Messages()[1].Parts; len(got) != 1 || got[0].Text != "whole" {
		t.Errorf("history: %+v", got)
	}
	c = New(&Options{Model: scripted(t, cut, cut, says("whole"))})
	if _, a, err = collect(t, c, t.Context(), "go"); err == nil || a.Text != "half" || a.Stop != Failed {
		t.Errorf("cut twice: %+v, %v", a, err)
	}
	if got := c.Messages()[1].Parts; len(got) != 1 { // what follows the state did not come: it would be refused
		t.Errorf("history: %+v", got)
	}
}

// With patience, an answer may break off more than once; between two attempts there is a wait.
func TestAnewWithPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := reply{events: []llm.Event{{Text: "half"}}, err: &llm.Error{Kind: llm.Cut, Message: "cut"}}
		c := New(&Options{Model: scripted(t, cut, cut, cut, reply{err: overloaded()}, says("whole")), Retry: &llm.RetryOptions{Time: time.Minute}})
		start := time.Now()
		steps, a, err := collect(t, c, t.Context(), "go")
		if err != nil || a.Text != "whole" || time.Since(start) < 2*time.Second {
			t.Fatalf("got %+v, %v after %v", a, err, time.Since(start))
		}
		anew := 0
		for _, s := range steps {
			if s.Anew {
				anew++
			}
		}
		if anew != 3 {
			t.Errorf("started again %d times: %+v", anew, steps)
		}
		c = New(&Options{Model: scripted(t, cut), Retry: &llm.RetryOptions{Attempts: 1}})
		if steps, a, err = collect(t, c, t.Context(), "go"); err == nil || a.Text != "half" || len(steps) != 1 {
			t.Errorf("without patience: %+v, %v, steps %+v", a, err, steps)
		}
	})
}

// Waits of llm.Retry are told as notices.
func TestRetryIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := scripted(t, reply{err: overloaded()}, says("hello"))
		c := New(&Options{Model: m, Retry: &llm.RetryOptions{}})
		steps, a, err := collect(t, c, t.Context(), "go")
		if err != nil || a.Text != "hello" || !strings.Contains(steps[0].Notice, "asking again in") {
			t.Errorf("got %+v, %v, steps %+v", a, err, steps)
		}
		m = scripted(t, reply{err: overloaded()}, says("hello"))
		c = New(&Options{Model: m, Retry: &llm.RetryOptions{}})
		for range c.Ask(t.Context(), "go") {
			break
		}
		if len(m.asked) != 1 {
			t.Errorf("a reader that had gone was waited for: %d requests", len(m.asked))
		}
	})
}

func TestBusyAndEmpty(t *testing.T) {
	c := New(&Options{Model: scripted(t, says("one"), says("two"))})
	for s := range c.Ask(t.Context(), "go") {
		if s.Text == "" {
			continue
		}
		if _, _, err := collect(t, c, t.Context(), "inside"); !errors.Is(err, errBusy) {
			t.Errorf("Ask inside Ask: %v", err)
		}
		if err := c.Reset(); !errors.Is(err, errBusy) {
			t.Errorf("Reset inside Ask: %v", err)
		}
		if _, err := c.Compact(t.Context()); !errors.Is(err, errBusy) {
			t.Errorf("Compact inside Ask: %v", err)
		}
	}
	if _, a, err := collect(t, c, t.Context(), " \n"); !errors.Is(err, errNoPrompt) || a.Stop != Failed {
		t.Errorf("an empty prompt: %+v, %v", a, err)
	}
	if err := c.Reset(); err != nil || len(c.Messages()) != 0 {
		t.Errorf("Reset: %v", err)
	}
	if _, a, err := collect(t, c, t.Context(), "go"); err != nil || a.Text != "two" {
		t.Errorf("after Reset: %+v, %v", a, err)
	}
}

func TestRun(t *testing.T) {
	a, err := Run(t.Context(), &Options{Model: scripted(t, says("hello"))}, "hi")
	if err != nil || a.Text != "hello" {
		t.Errorf("got %+v, %v", a, err)
	}
	a, err = Run(t.Context(), &Options{Model: scripted(t)}, "hi")
	if err == nil || a == nil || a.Stop != Failed {
		t.Errorf("got %+v, %v", a, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a conversation without a model was made")
		}
	}()
	New(&Options{})
}

// A conversation goes on from what another one has kept, whatever has happened to it on the way.
func TestHistory(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{}`)), says("one"), says("two"))
	o := &Options{Model: m, Tools: executor(t, echo())}
	first := New(o)
	if _, _, err := collect(t, first, t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(first.Messages())
	if err != nil {
		t.Fatal(err)
	}
	var kept []llm.Message
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	second := *o
	second.History = kept
	c := New(&second)
	if again, _ := json.Marshal(c.Messages()); string(again) != string(b) {
		t.Errorf("got  %s\nwant %s", again, b)
	}
	if _, a, err := collect(t, c, t.Context(), "more"); err != nil || a.Text != "two" {
		t.Errorf("got %+v, %v", a, err)
	}
	for i := range kept {
		for j := i; j <= len(kept); j++ {
			if fault := invalid(repair(kept[i:j])); fault != "" {
				t.Errorf("repair(history[%d:%d]): %s", i, j, fault)
			}
		}
	}
}

// Every step is an event (issue: R166).
func TestTrace(t *testing.T) {
	var kinds []string
	var last trace.Event
	tracer := trace.TracerFunc(func(_ context.Context, e trace.Event) { kinds, last = append(kinds, string(e.Kind)), e })
	e := executor(t, echo())
	e.Trace = tracer
	bad := call("b", "echo", `{}`)
	bad.Raw = "{"
	m := scripted(t, calls(call("a", "echo", `{}`), bad), says("done"))
	now := time.Unix(0, 0)
	c := New(&Options{Model: m, Tools: e, Trace: tracer, Now: func() time.Time { now = now.Add(time.Second); return now }})
	if _, _, err := collect(t, c, t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(kinds, " "), "model_requested tool_called tool_called model_requested agent_answered"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if last.Duration <= 0 || last.Message != "end" || last.Attrs[0].Value.Int64() != 20 {
		t.Errorf("last event: %+v", last)
	}
}
