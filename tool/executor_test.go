package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// watched returns an executor with the tools and its events: one "kind level" a line.
func watched(t *testing.T, tools ...Tool) (*Executor, *[]string) {
	t.Helper()
	var s Set
	for _, one := range tools {
		if err := s.Add(one); err != nil {
			t.Fatal(err)
		}
	}
	events := &[]string{}
	return &Executor{Tools: &s, Trace: trace.TracerFunc(func(_ context.Context, e trace.Event) {
		*events = append(*events, fmt.Sprint(e.Kind, " ", e.Level))
	})}, events
}

// If ctx is done, no tool is called and no approval is asked for.
func TestEndedContextCallsNothing(t *testing.T) {
	ran := 0
	e, events := watched(t, Tool{Name: "write", Call: func(context.Context, json.RawMessage) Result { ran++; return Success(nil, "") }})
	e.Check = func(_ context.Context, _ string, _ json.RawMessage) error { ran++; return nil }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		why  Cause
		want string
	}{
		{"cancelled", cancelled, CauseStopped, "Tool 'write' was not called: context canceled"},
		{"out of time", late, CauseTimeout, "Tool 'write' was not called: context deadline exceeded"},
	} {
		*events = nil
		r := e.Call(tt.ctx, "write", nil)
		if r.Success || r.Cause() != tt.why || r.Message != tt.want || ran != 0 {
			t.Errorf("%s: got %s, ran %d times\nwant %s", tt.name, r.Encode(), ran, tt.want)
		}
		if got := fmt.Sprint(*events); got != "[tool_called DEBUG]" {
			t.Errorf("%s: events %s", tt.name, got)
		}
	}
}

// Models name tools as other hosts show them. What a rule and a guard see is the tool's own name.
func TestNamespaces(t *testing.T) {
	e, _ := watched(t, Tool{Name: "bash", Call: func(context.Context, json.RawMessage) Result { return Success(nil, "") }},
		Tool{Name: "functions.own", Call: func(context.Context, json.RawMessage) Result { return Success(nil, "own") }})
	var checked string
	e.Check = func(_ context.Context, name string, _ json.RawMessage) error { checked = name; return nil }
	for name, want := range map[string]string{"functions.bash": "bash", "default_api:bash": "bash", "functions.own": "functions.own"} {
		if r := e.Call(t.Context(), name, nil); !r.Success || checked != want {
			t.Errorf("%s: checked as %q: %s", name, checked, r.Encode())
		}
	}
	for name, want := range map[string]string{"functions.bsh": "Tool 'functions.bsh' not found. Did you mean 'bash'?", "functions.read": "Tool 'functions.read' not found", "other.bash": "Tool 'other.bash' not found"} {
		if r := e.Call(t.Context(), name, nil); r.Error != NotFound || r.Message != want {
			t.Errorf("%s: %s", name, r.Encode())
		}
	}
}

// Nothing that an executor is made of brings a conversation down: no tools at all, a check that panics.
func TestExecutorAlwaysAnswers(t *testing.T) {
	if r := (&Executor{}).Call(t.Context(), "x", nil); r.Error != NotFound || r.Message != "Tool 'x' not found" {
		t.Errorf("without tools: %s", r.Encode())
	}
	var none *Set
	for range none.All() {
		t.Error("a nil set has a tool")
	}
	ran := false
	e, events := watched(t, Tool{Name: "x", Call: func(context.Context, json.RawMessage) Result { ran = true; return Success(nil, "") }})
	e.Check = func(_ context.Context, _ string, _ json.RawMessage) error { panic("inside") }
	r := e.Call(t.Context(), "x", nil)
	if r.Error != ExecutionFailed || r.Message != "Tool 'x' failed: internal error" || ran {
		t.Errorf("a check that panics: %s, ran %v", r.Encode(), ran)
	}
	if got, want := fmt.Sprint(*events), fmt.Sprintf("[tool_called %s tool_called %s]", slog.LevelError, slog.LevelDebug); got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}

// A tool and a check get a JSON object, whatever a model or a host hands in.
func TestArgumentsAreAnObject(t *testing.T) {
	var got, checked string
	e, _ := watched(t, Tool{Name: "x", Call: func(_ context.Context, args json.RawMessage) Result {
		got = string(args)
		return Success(nil, "")
	}})
	e.Check = func(_ context.Context, _ string, args json.RawMessage) error { checked = string(args); return nil }
	for _, tt := range []struct{ args, want string }{
		{"", "{}"}, {" \n", "{}"}, {"null", "{}"}, {" null ", "{}"}, {"{}", "{}"}, {` {"a":[1]} `, ` {"a":[1]} `},
		{`{"a":{"x":1},"A":{"x":1e999}}`, `{"a":{"x":1},"A":{"x":1e999}}`}, {nest(maxDepth - 1), nest(maxDepth - 1)},
	} {
		got, checked = "", ""
		if r := e.Call(t.Context(), "x", json.RawMessage(tt.args)); !r.Success || got != tt.want || checked != tt.want {
			t.Errorf("%q: %s, the tool got %q, the check %q, want %q", tt.args, r.Encode(), got, checked, tt.want)
		}
	}
	for args, want := range map[string]string{
		"[":                           "unexpected end of JSON input",
		"{":                           "unexpected end of JSON input",
		`{"a":1} {"b":2}`:             "invalid character '{' after top-level value",
		"\ufeff{}":                    "invalid character",
		"[]":                          "they must be one JSON object",
		`"{}"`:                        "they must be one JSON object",
		"1":                           "they must be one JSON object",
		"true":                        "they must be one JSON object",
		"not JSON, nothing":           "invalid character",
		`{"a":1,"a":1}`:               `key "a" is repeated`,
		`{"a":1,"\u0061":2}`:          `key "a" is repeated`,
		`{"x":[{"a":{"b":1,"b":2}}]}`: `key "b" is repeated`,
		"{\"a\":\"\xff\"}":            "they are not valid UTF-8",
		"{\"a\xff\":1,\"a\xfe\":2}":   "they are not valid UTF-8",
		nest(maxDepth):                "they have more than 100 levels",
		nest(20_000):                  "invalid character '['",
	} {
		got, checked = "untouched", "untouched"
		r := e.Call(t.Context(), "x", json.RawMessage(args))
		if r.Success || r.Error != ExecutionFailed || r.Reason != ReasonArguments ||
			!strings.HasPrefix(r.Message, "arguments of 'x' cannot be read: "+want) || got != "untouched" || checked != "untouched" {
			t.Errorf("%.60q: %.200s, the tool got %q, the check %q", args, r.Encode(), got, checked)
		}
	}
	e.Check = func(_ context.Context, _ string, _ json.RawMessage) error { return errors.New("no") }
	if r := e.Call(t.Context(), "y", json.RawMessage("[")); r.Error != NotFound {
		t.Errorf("a tool that is not there: %s", r.Encode())
	}
}

// nest is an object with lists inside each other.
func nest(lists int) string {
	return `{"a":` + strings.Repeat("[", lists) + strings.Repeat("]", lists) + "}"
}

// A tool that stands for others: the executor checks, traces and calls the one that a call is for, under its full name.
func TestResolve(t *testing.T) {
	var got, checked, after []string
	inner := Tool{Name: "greet", Full: "hello.Greeter.greet", Source: "hello.Greeter", Call: func(_ context.Context, args json.RawMessage) Result {
		got = append(got, string(args))
		return Success("hi", "")
	}}
	refusal := CauseName.Failure("no such tool")
	proxy := Tool{Name: "toolset_call", Call: func(context.Context, json.RawMessage) Result { panic("the tool itself was called") },
		Resolve: func(_ context.Context, args json.RawMessage) (Tool, json.RawMessage, *Result) {
			switch string(args) {
			case "{}":
				return Tool{}, nil, &refusal
			case `{"bad":1}`:
				return inner, json.RawMessage(`[1]`), nil
			case `{"panic":1}`:
				panic("inside")
			}
			return inner, json.RawMessage(`{"name":"Ada"}`), nil
		}}
	e, _ := watched(t, proxy, inner)
	var names []string
	e.Trace = trace.TracerFunc(func(_ context.Context, ev trace.Event) { names = append(names, fmt.Sprint(ev.Kind, " ", ev.Tool)) })
	e.Check = func(_ context.Context, name string, args json.RawMessage) error {
		checked = append(checked, name+string(args))
		if strings.Contains(string(args), "Eve") {
			return errors.New("no")
		}
		return nil
	}
	e.After = func(_ context.Context, name string, args json.RawMessage, r Result) Result {
		after = append(after, name+string(args))
		return r
	}
	for _, tt := range []struct {
		tool, args string
		want       Result
		event      string
	}{
		{"toolset_call", `{"tool":"greet"}`, Success("hi", ""), "[tool_called hello.Greeter.greet]"},
		{"greet", `{"name":"Bob"}`, Success("hi", ""), "[tool_called hello.Greeter.greet]"},
		{"greet", `{"name":"Eve"}`, CauseSecurity.Failure("no"), "[tool_denied hello.Greeter.greet]"},
		{"toolset_call", `{}`, refusal, "[tool_called toolset_call]"},
		{"toolset_call", `{"bad":1}`, CauseArguments.Failure("arguments of 'hello.Greeter.greet' cannot be read: they must be one JSON object; they were: [1]"), "[tool_called toolset_call]"},
		{"toolset_call", `{"panic":1}`, CauseUnknown.Failure("Tool 'toolset_call' failed: internal error"), "[tool_called toolset_call tool_called toolset_call]"},
	} {
		names = nil
		r := e.Call(t.Context(), tt.tool, json.RawMessage(tt.args))
		if r.Duration = 0; string(r.Encode()) != string(tt.want.Encode()) || fmt.Sprint(names) != tt.event {
			t.Errorf("%s %s: got %s, %v, want %s, %s", tt.tool, tt.args, r.Encode(), names, tt.want.Encode(), tt.event)
		}
	}
	want := `[hello.Greeter.greet{"name":"Ada"} hello.Greeter.greet{"name":"Bob"}`
	if fmt.Sprint(got) != `[{"name":"Ada"} {"name":"Bob"}]` || fmt.Sprint(after) != want+"]" || fmt.Sprint(checked) != want+` hello.Greeter.greet{"name":"Eve"}]` {
		t.Errorf("called with %v, checked %v, after %v", got, checked, after)
	}
	if err := e.Tools.Add(Tool{Name: "greet", Full: "b.C.greet", Source: "b.C", Call: inner.Call}); err == nil || !strings.Contains(err.Error(), "from b.C.greet conflicts with hello.Greeter.greet") {
		t.Errorf("got %v", err)
	}
}

// C49: an executor puts the texts of all failures into their envelopes, whichever tool they are of.
func TestErrorText(t *testing.T) {
	e, _ := watched(t, Tool{Name: "broken", Call: func(context.Context, json.RawMessage) Result { return CauseUnknown.Failure("it is broken") }})
	e.ErrorText = true
	for _, name := range []string{"broken", "nowhere"} {
		if r := e.Call(t.Context(), name, nil); !r.ErrorText || r.Error == "" {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
