package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/want"
)

// watch returns a context and the events that come in it.
func watch(ctx context.Context) (context.Context, *[]Event) {
	var mu sync.Mutex
	var got []Event
	return WithWatch(ctx, func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
	}), &got
}

func add(t *testing.T, set *Set, tool Tool) {
	t.Helper()
	if err := set.Add(tool); err != nil {
		t.Fatal(err)
	}
}

func kinds(events []Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

func TestEventsOfACall(t *testing.T) {
	set := &Set{}
	var late func()
	host := want.HostOf("example.com")
	add(t, set, Tool{Name: "run", Call: func(ctx context.Context, _ json.RawMessage) Result {
		out := Output(ctx)
		fmt.Fprint(out, "one\ncaf\xc3")
		fmt.Fprint(out, "\xa9\n")
		Notify(ctx, Event{Kind: EventNeeds, Need: host, Text: "asked"})
		Notify(ctx, Event{Kind: EventProgress, Text: "half", Done: 1, Total: 2})
		late = func() { fmt.Fprint(out, "too late") }
		return CauseStopped.Failure("stopped")
	}})
	ctx, got := watch(t.Context())
	e := &Executor{Tools: set}
	e.Call(ctx, "functions.run", nil)
	late()
	want := []Event{
		{Kind: EventStarted, Tool: "run"}, {Kind: EventOutput, Tool: "run", Text: "one\ncaf"}, {Kind: EventOutput, Tool: "run", Text: "é\n"},
		{Kind: EventNeeds, Tool: "run", Need: host, Text: "asked"}, {Kind: EventProgress, Tool: "run", Text: "half", Done: 1, Total: 2},
		{Kind: EventEnded, Tool: "run", Text: "stopped", Failed: true, Cause: CauseStopped},
	}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got %+v\nwant %+v", *got, want)
	}
}

func TestEventsOfARefusedCall(t *testing.T) {
	set := &Set{}
	add(t, set, Tool{Name: "run", Call: func(context.Context, json.RawMessage) Result { return Success(nil, "ran") }})
	ctx, got := watch(t.Context())
	e := &Executor{Tools: set, Check: func(context.Context, string, json.RawMessage) error { return errors.New("no") }}
	e.Call(ctx, "run", nil)
	if kinds(*got) != "ended" || (*got)[0].Cause != CauseSecurity {
		t.Errorf("got %+v", *got)
	}
}

// Without a watch nothing is called, and a call costs nothing more.
func TestNobodyWatches(t *testing.T) {
	if Output(t.Context()) != nil || Watched(t.Context()) {
		t.Error("somebody watches")
	}
	Notify(t.Context(), Event{Kind: EventNeeds})
}

// After outputFull there is an event each second, with the newest output and how much no event has.
func TestOutputIsCapped(t *testing.T) {
	var got []Event
	clock := time.Unix(0, 0)
	w := &callWatch{f: func(e Event) { got = append(got, e) }, now: func() time.Time { return clock }}
	line := strings.Repeat("x", 1023) + "\n"
	for range 256 {
		w.notify(Event{Kind: EventOutput, Text: line})
	}
	if len(got) != 256 {
		t.Fatalf("%d events", len(got))
	}
	got = nil
	clock = clock.Add(outputPace)
	for i := range 1000 {
		w.notify(Event{Kind: EventOutput, Text: fmt.Sprintf("%09d\n", i)})
	}
	if len(got) != 1 || got[0].Text != "000000000\n" || got[0].Left != 0 {
		t.Fatalf("got %d events, %+v", len(got), got[0])
	}
	r := Success(nil, "")
	if n := w.end(&r); n != 256*1024+10_000 {
		t.Errorf("wrote %d", n)
	}
	rest := got[1]
	if kinds(got) != "output output ended" || !strings.HasSuffix(rest.Text, "000000999\n") || len(rest.Text) != outputLast || rest.Left != 9990-outputLast {
		t.Errorf("got %+v", got)
	}
}

// A program that writes byte by byte, messages of progress and needs have bounds, too.
func TestEventsAreBounded(t *testing.T) {
	n := 0
	w := &callWatch{f: func(Event) { n++ }, now: func() time.Time { return time.Unix(0, 0) }}
	for range 100_000 {
		w.notify(Event{Kind: EventOutput, Text: "é"})
		w.notify(Event{Kind: EventProgress})
		w.notify(Event{Kind: EventNeeds})
	}
	if most := outputFull/outputLeast + mostNeeds + 1; n > most {
		t.Errorf("%d events, at most %d", n, most)
	}
}

func TestOutletKeepsCharacters(t *testing.T) {
	text := "a é … 😀 \xff\xfe end"
	for size := 1; size < 6; size++ {
		ctx, got := watch(t.Context())
		out := Output(ctx)
		for p := []byte(text); len(p) > 0; p = p[min(size, len(p)):] {
			if n, err := out.Write(p[:min(size, len(p))]); n != min(size, len(p)) || err != nil {
				t.Fatal(n, err)
			}
		}
		var all strings.Builder
		for _, e := range *got {
			if strings.ContainsRune(strings.ReplaceAll(strings.ReplaceAll(e.Text, "\xff", ""), "\xfe", ""), '\ufffd') {
				t.Errorf("size %d: %q is no whole text", size, e.Text)
			}
			all.WriteString(e.Text)
		}
		if all.String() != text {
			t.Errorf("size %d: got %q", size, all.String())
		}
	}
}

func TestInterrupted(t *testing.T) {
	past, done := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer done()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(fmt.Errorf("by a job: %w", ErrCancelled))
	for _, tt := range []struct {
		ctx  context.Context
		want string
	}{{t.Context(), "execution_failed"}, {past, "timeout"}, {stopped, "stopped"}, {cancelled, "cancelled"}} {
		if got := Interrupted(tt.ctx).String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestCauseOf(t *testing.T) {
	for c := range causes {
		n := c.names()
		r := c.Failure("x")
		if got := r.Cause(); got.Code() != n.code || got.Reason() != n.reason {
			t.Errorf("cause %d: got %d", c, got)
		}
	}
	if CauseOf(NotFound, "unknown_reason") != CauseNotFound || CauseOf("made_up", "") != CauseUnknown {
		t.Error("the code alone does not decide")
	}
	ok := CauseOf(Timeout, "")
	if r := Success(nil, ""); r.Cause() != CauseUnknown || ok != CauseTimeout {
		t.Error("a success has a cause")
	}
}
