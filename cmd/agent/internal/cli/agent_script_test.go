package cli_test

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// fakeModel starts a model server that answers with the lines of a file, and sends the command to it:
// fakemodel FILE. A line is {"text": …, "calls": [{"name": …, "args": {…}}], "echo": true, "status": 401, "retry": "1", "cut": 3,
// "hang": 4, "thought": …, "stop": "length"}; echo says the last result, args that are a text are sent as they are, status fails, retry is its Retry-After, cut and hang break off or fall silent after so many events. Requests that no vendor would take fail the script at its end.
func fakeModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fakemodel FILE")
	}
	var steps []fakemodel.Step
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var in struct {
			Text    string
			Thought string
			Stop    fakemodel.Stop
			Echo    bool
			Status  int
			Retry   string
			Cut     int
			Hang    int
			Calls   []struct {
				Name string
				Args json.RawMessage
			}
		}
		ts.Check(json.Unmarshal([]byte(line), &in))
		step := fakemodel.Step{Text: in.Text, Thought: in.Thought, Stop: in.Stop, Status: in.Status, RetryAfter: in.Retry}
		for _, c := range in.Calls {
			args := string(c.Args)
			_ = json.Unmarshal(c.Args, &args) // arguments that are an object stay
			step.Calls = append(step.Calls, fakemodel.Call{Name: c.Name, Args: args})
		}
		if in.Hang > 0 {
			step.Fault = fakemodel.Fault{Kind: fakemodel.Hang, After: in.Hang}
		}
		if in.Cut > 0 {
			step.Fault = fakemodel.Fault{Kind: fakemodel.Cut, After: in.Cut}
		}
		if in.Echo {
			step = fakemodel.Step{From: func(r *fakemodel.Request) fakemodel.Step {
				return fakemodel.Step{Text: in.Text + r.LastResult()}
			}}
		}
		steps = append(steps, step)
	}
	s := fakemodel.Start(steps...)
	ts.Value(serverKey{}).(*serverHolder).server = s
	for _, kv := range s.Env() {
		name, value, _ := strings.Cut(kv, "=")
		ts.Setenv(name, value)
	}
	ts.Defer(func() {
		s.Close()
		for _, err := range s.Problems() {
			ts.Logf("[model server] %v", err)
		}
		if len(s.Problems()) > 0 {
			ts.Fatalf("the model server was asked what no vendor allows")
		}
	})
}

// serverKey is where a script keeps its model server.
type (
	serverKey    struct{}
	serverHolder struct{ server *fakemodel.Server }
)

// modelSaw checks what the model server was asked: modelsaw N PART TEXT, where N counts requests from 0, PART is system,
// tools, results, prompt, shown (the media types of what it was shown) or body, and TEXT must be in it. "! modelsaw" says that it must not; N is then "any" for all.
func modelSaw(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: modelsaw N PART TEXT")
	}
	requests := ts.Value(serverKey{}).(*serverHolder).server.Requests()
	for i, r := range requests {
		if args[0] != "any" && args[0] != strconv.Itoa(i) {
			continue
		}
		if strings.Contains(partOf(r, args[1]), args[2]) == neg {
			ts.Fatalf("request %d, %s:\n%s\n%q in it: %t", i, args[1], partOf(r, args[1]), args[2], neg)
		}
		if args[0] != "any" {
			return
		}
	}
	if args[0] != "any" {
		ts.Fatalf("there were only %d requests", len(requests))
	}
}

func partOf(r *fakemodel.Request, part string) string {
	switch part {
	case "system":
		return r.System
	case "prompt":
		return r.Prompt()
	case "tools":
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		return strings.Join(names, " ")
	case "results":
		var texts []string
		for _, res := range r.Results() {
			texts = append(texts, res.Text)
		}
		return strings.Join(texts, "\n")
	}
	if part == "shown" {
		var types []string
		for _, m := range r.Shown {
			types = append(types, m.Type)
		}
		return "[" + strings.Join(types, " ") + "]"
	}
	return string(r.Body)
}
