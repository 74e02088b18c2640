package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"runtime"
	"strings"
	"testing"
)

// step is what a scripted stream yields next.
type step struct {
	Event
	err error
}

// scripted answers the first request with the first list of steps, and so on; the last one stays.
func scripted(asked *int, answers ...[]step) Model {
	return ModelFunc(func(context.Context, *Request) iter.Seq2[Event, error] {
		a := answers[min(*asked, len(answers)-1)]
		*asked++
		return func(yield func(Event, error) bool) {
			for _, s := range a {
				if !yield(s.Event, s.err) {
					return
				}
			}
		}
	})
}

func text(s string) step { return step{Event: Event{Text: s}} }

var (
	call  = step{Event: Event{Call: &Call{ID: "c", Name: "look", Args: json.RawMessage(`{}`)}}}
	state = step{Event: Event{State: &State{Owner: "x", Data: json.RawMessage(`1`)}}}
	few   = step{Event: Event{Usage: &Usage{Input: 1}}}
	many  = step{Event: Event{Usage: &Usage{Input: 10, Output: 2}}}
	below = step{Event: Event{Usage: &Usage{Input: 10, CacheRead: -1, Output: 2}}}
	end   = step{Event: Event{Stop: StopEnd}}
)

func TestCollect(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name  string
		steps []step
		want  string // the answer as JSON
		err   string
	}{
		{"texts join", []step{text("a"), text("b"), end}, `{"Message":{"role":"assistant","parts":[{"text":"ab"}]},"Usage":{"input":0,"output":0},"Stop":"end"}`, ""},
		{"in their order", []step{text("a"), state, text("b"), text("c"), call, few, many, end},
			`{"Message":{"role":"assistant","parts":[{"text":"a"},{"state":{"owner":"x","data":1}},{"text":"bc"},{"call":{"id":"c","name":"look","args":{}}}]},"Usage":{"input":10,"output":2},"Stop":"end"}`, ""},
		{"no reason", []step{text("a")}, `{"Message":{"role":"assistant","parts":[{"text":"a"}]},"Usage":{"input":0,"output":0},"Stop":""}`, "the answer ended before it was complete"},
		{"error", []step{text("a"), {err: broken}}, `{"Message":{"role":"assistant","parts":[{"text":"a"}]},"Usage":{"input":0,"output":0},"Stop":""}`, "broken"},
		{"a negative count", []step{text("a"), many, below}, `{"Message":{"role":"assistant","parts":[{"text":"a"}]},"Usage":{"input":10,"output":2},"Stop":""}`, "the usage counts tokens below 0"}, // F12
		{"nothing", nil, `{"Message":{"role":"assistant","parts":null},"Usage":{"input":0,"output":0},"Stop":""}`, "the answer ended before it was complete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked, seen := 0, 0
			a, err := Collect(t.Context(), scripted(&asked, tt.steps), &Request{}, func(Event) { seen++ })
			got, _ := json.Marshal(a)
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if message(err) != tt.err {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if want := len(tt.steps); seen != want && tt.err != "broken" && tt.name != "a negative count" {
				t.Errorf("each saw %d events of %d", seen, want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A reader who cancelled is told so, unless the answer is complete.
func TestCollectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	asked := 0
	if _, err := Collect(ctx, scripted(&asked, []step{text("a")}), &Request{}, nil); err != context.Canceled {
		t.Errorf("an answer that was cut: %v", err)
	}
	if _, err := Collect(ctx, scripted(&asked, []step{text("a"), end}), &Request{}, nil); err != nil {
		t.Errorf("a whole answer: %v", err)
	}
}

// A long answer in small pieces costs what its length costs, not the square of it.
func TestCollectManyPieces(t *testing.T) {
	steps := make([]step, 0, 100_001)
	for range 100_000 {
		steps = append(steps, text("word "))
	}
	steps = append(steps, end)
	asked := 0
	m := scripted(&asked, steps)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a, err := Collect(t.Context(), m, &Request{}, nil)
	runtime.ReadMemStats(&after)
	if err != nil || len(a.Message.Parts) != 1 || len(a.Text()) != 500_000 {
		t.Fatalf("%d parts, %d bytes, %v", len(a.Message.Parts), len(a.Text()), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("an answer of 500 kB allocated %d bytes", got)
	}
}

func TestAnswer(t *testing.T) {
	asked := 0
	a, err := Collect(t.Context(), scripted(&asked, []step{text("a"), call, text("b"), call, end}), &Request{}, nil)
	if err != nil || a.Text() != "ab" || len(a.Calls()) != 2 {
		t.Errorf("text %q, %d calls, %v", a.Text(), len(a.Calls()), err)
	}
	if got, want := (Usage{1, 2, 3, 4}).Add(Usage{10, 20, 30, 40}), (Usage{11, 22, 33, 44}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestError(t *testing.T) {
	cause := errors.New("no route")
	tests := []struct {
		name string
		e    Error
		want string
	}{
		{"all", Error{Kind: RateLimit, Provider: "openai", Status: 429, Message: "slow"}, "openai: slow (HTTP 429)"},
		{"cause", Error{Kind: Network, Provider: "gemini", Err: cause}, "gemini: no route"},
		{"nobody", Error{Kind: Cut, Message: "ended"}, "ended"},
		{"nothing but a kind", Error{Kind: TimedOut, Provider: "x"}, "x: timed_out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.Error(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if !errors.Is(&Error{Err: cause}, cause) {
		t.Error("the cause cannot be found")
	}
}

func TestKinds(t *testing.T) {
	for status, want := range map[int]ErrorKind{
		400: BadRequest, 401: BadKey, 403: BadKey, 404: NoModel, 408: TimedOut, 413: TooLong, 422: BadRequest,
		429: RateLimit, 500: Overloaded, 502: Overloaded, 503: Overloaded, 504: TimedOut, 529: Overloaded,
	} {
		if got := KindOfStatus(status); got != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
	}
	var temporary []string
	for _, k := range []ErrorKind{BadKey, BadRequest, NoModel, TooLong, RateLimit, Overloaded, Network, Cut, Malformed, TimedOut} {
		if (&Error{Kind: k}).Temporary() {
			temporary = append(temporary, string(k))
		}
	}
	if got := strings.Join(temporary, " "); got != "rate_limit overloaded network cut timed_out" {
		t.Errorf("temporary: %s", got)
	}
}
