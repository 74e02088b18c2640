package tool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/trace"
)

func echo(name string) Tool {
	return Tool{Name: name, Call: func(_ context.Context, args json.RawMessage) Result {
		return Success(args, "echoed")
	}}
}

// R102, R115, C49, C83: one envelope, stable key order, and for a model neither duration nor sandbox; R129: a fork is for the loop, not for the model.
func TestResultEncoding(t *testing.T) {
	ms := 1500 * time.Microsecond
	tests := []struct {
		name string
		r    Result
		want string
	}{
		{"success", Result{Success: true, Result: json.RawMessage(`{"b":1,"a":"<x>"}`), Message: "m", Duration: ms},
			`{"success":true,"result":{"b":1,"a":"<x>"},"message":"m"}`},
		{"empty success", Success(nil, ""), `{"success":true,"result":null,"message":""}`},
		{"failure", Failure(NotFound, "Skill 'xyz' not found"), `{"success":false,"error":"not_found","message":"Skill 'xyz' not found"}`},
		{"failure with what the script said", Result{Error: ExecutionFailed, Reason: "r", Message: "m", Result: map[string]string{"error": "e"}},
			`{"success":false,"error":"execution_failed","reason":"r","message":"m","result":{"error":"e"}}`},
		{"a fork is not shown", Result{Success: true, Message: "m", Fork: &Fork{Skill: "s", Prompt: "p", Model: "o", Agent: "a"}},
			`{"success":true,"result":null,"message":"m"}`},
		{"metadata", Result{Success: true, Result: 1, Metadata: map[string]any{"k": "v", MetadataSandbox: 1}},
			`{"success":true,"result":1,"message":"","metadata":{"k":"v"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(tt.r.Encode()); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := string(Success(make(chan int), "").Encode()); !strings.Contains(got, `"success":false`) {
		t.Errorf("a result that is no JSON gave %s", got)
	}
}

// C49, C83: programs get the duration and what confined a call.
func TestResultWhole(t *testing.T) {
	r := Result{Success: true, Result: 1, Metadata: map[string]any{MetadataSandbox: "A"}, Duration: 1500 * time.Microsecond}
	want := `{"success":true,"result":1,"message":"","metadata":{"sandbox":"A"},"duration_ms":1.5}`
	if got, err := json.Marshal(r); err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	if _, kept := r.Metadata[MetadataSandbox]; r.Encode() == nil || !kept {
		t.Error("Encode changed the result")
	}
}

// R116: the first tool of a name wins, the other is named in full.
func TestSetCollision(t *testing.T) {
	var s Set
	a, b := echo("search"), echo("search")
	a.Source, b.Source = "github-devops.GitHubTools", "kalshi-markets.KalshiTools"
	if err := s.Add(a); err != nil {
		t.Fatal(err)
	}
	err := s.Add(b)
	want := "Tool name collision: 'search' from kalshi-markets.KalshiTools.search conflicts with github-devops.GitHubTools.search (using first)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := s.Add(echo("z")); err != nil {
		t.Fatal(err)
	}
	var names []string
	for tool := range s.All() {
		names = append(names, tool.Name+"/"+tool.Source)
	}
	if got := strings.Join(names, " "); got != "search/github-devops.GitHubTools z/" {
		t.Errorf("tools: %s", got)
	}
}

func TestAddRefusesMisuse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a tool without a Call was added")
		}
	}()
	var s Set
	_ = s.Add(Tool{Name: "x"})
}

var denial = &Denial{Result: CauseToolDenied.Failure("Tool 'bash' not allowed by skill 'x'")}

// R120: a denied call is a result, and the tool does not run.
func TestExecutor(t *testing.T) {
	var s Set
	ran := 0
	add := func(tool Tool) {
		if err := s.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	add(Tool{Name: "bash", Call: func(context.Context, json.RawMessage) Result { ran++; return Success(nil, "") }})
	add(Tool{Name: "boom", Call: func(context.Context, json.RawMessage) Result { panic("inside") }})
	add(echo("echo"))
	var events []trace.Event
	e := &Executor{Tools: &s, Trace: trace.TracerFunc(func(_ context.Context, ev trace.Event) { events = append(events, ev) }),
		Check: func(_ context.Context, name string, _ json.RawMessage) error {
			switch name {
			case "bash":
				return denial
			case "echo":
				return nil
			}
			return nil
		}}
	ctx := t.Context()
	if r := e.Call(ctx, "bash", nil); r.Success || r.Error != PermissionDenied || r.Message != denial.Error() || r.Reason != "tool_not_allowed" || r.Duration != 0 || ran != 0 {
		t.Errorf("denied call: %+v, ran %d times", r, ran)
	}
	if r := e.Call(ctx, "echo", nil); !r.Success || string(r.Result.(json.RawMessage)) != "{}" || r.Duration <= 0 {
		t.Errorf("echo without arguments: %+v", r)
	}
	if r := e.Call(ctx, "nope", nil); r.Error != NotFound {
		t.Errorf("unknown tool: %+v", r)
	}
	if r := e.Call(ctx, "boom", nil); r.Error != ExecutionFailed || strings.Contains(r.Message, "inside") {
		t.Errorf("panicking tool: %+v", r)
	}
	if events[0].Kind != trace.ToolDenied || events[0].Level != slog.LevelDebug {
		t.Errorf("first event %+v, want tool_denied at debug", events[0])
	}
	e.Check = func(_ context.Context, _ string, _ json.RawMessage) error { return errors.New("no") }
	if r := e.Call(ctx, "echo", nil); r.Error != PermissionDenied || r.Message != "no" {
		t.Errorf("plain check error: %+v", r)
	}
}
