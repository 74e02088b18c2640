package toolset

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
)

// R115, R184: what a tool returns has the engine's form, whichever form its author chose.
func TestResult(t *testing.T) {
	tests := []struct {
		name   string
		lang   Language
		in     mcphost.Result
		expect string
	}{
		{"envelope", Python, mcphost.Result{Text: `{"success": true, "result": {"a": 1}, "message": "m"}`}, `{"success":true,"result":{"a":1},"message":"m"`},
		{"failure", Python, mcphost.Result{Text: `{"success": false, "error": "no_language", "message": "m"}`, Failed: true}, `{"success":false,"error":"no_language","message":"m"`},
		{"failure without a code", Python, mcphost.Result{Text: `{"success": false, "message": "m"}`}, `{"success":false,"error":"execution_failed","message":"m"`},
		{"values beside success", Python, mcphost.Result{Text: `{"success": true, "greetings": ["a"]}`}, `{"success":true,"result":{"greetings":["a"]},"message":""`},
		{"title and output", Node, mcphost.Result{Text: `{"title":"t","metadata":{"n":12345678901234567890},"output":"o"}`}, `{"success":true,"result":"o","message":"t","metadata":{"n":12345678901234567890}`},
		{"another object", Node, mcphost.Result{Text: `{"title":"t","output":1,"more":2}`}, `{"success":true,"result":{"title":"t","output":1,"more":2},"message":""`},
		{"success that is no boolean", Node, mcphost.Result{Text: `{"success":"yes"}`}, `{"success":true,"result":{"success":"yes"},"message":""`},
		{"success that is null", Node, mcphost.Result{Text: `{"success":null}`}, `{"success":true,"result":{"success":null},"message":""`},
		{"number of a host", Python, mcphost.Result{Text: "42"}, `{"success":true,"result":42,"message":""`},
		{"number of a server", Server, mcphost.Result{Text: "42"}, `{"success":true,"result":"42","message":""`},
		{"object of a server", Server, mcphost.Result{Text: `{"a": 1}`}, `{"success":true,"result":{"a":1},"message":""`},
		{"structured only", Server, mcphost.Result{Structured: json.RawMessage(`{"a":1}`)}, `{"success":true,"result":{"a":1},"message":""`},
		{"exact text before structure", Python, mcphost.Result{Text: `{"n":9007199254740993}`, Structured: json.RawMessage(`{"n":9007199254740992}`)}, `{"success":true,"result":{"n":9007199254740993},"message":""`},
		{"metadata of the engine", Node, mcphost.Result{Text: `{"title":"t","metadata":{"n":1,"sandbox":{"tier":"A"}},"output":"o"}`}, `{"success":true,"result":"o","message":"t","metadata":{"n":1}`},
		{"envelope of a server", Server, mcphost.Result{Text: `{"success":true,"result":"x","message":"approved","metadata":{"sandbox":{"tier":"A"}}}`},
			`{"success":true,"result":{"success":true,"result":"x","message":"approved","metadata":{"sandbox":{"tier":"A"}}},"message":""`},
		{"failure of a server", Server, mcphost.Result{Text: `{"success":false,"error":"restricted","message":"no such key"}`}, `{"success":false,"error":"execution_failed","message":"no such key"`},
		{"error text", Server, mcphost.Result{Text: "broke", Failed: true}, `{"success":false,"error":"execution_failed","message":"broke"`},
		{"a secret", Python, mcphost.Result{Text: `{"k":"sesame-open-42"}`}, `{"success":true,"result":{"k":"[redacted KEY]"},"message":""`},
		{"nothing", Server, mcphost.Result{}, `{"success":true,"result":"","message":""`},
	}
	h := newHost(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &process{u: &unit{lang: tt.lang}, serving: &script.Serving{Redact: redact.New([]redact.Secret{{Name: "KEY", Value: "sesame-open-42"}})}}
			got := string(h.result(p, &tt.in).Encode())
			if got != tt.expect+"}" {
				t.Errorf("got %s, want %s", got, tt.expect)
			}
		})
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, text := range []string{`{"success":true,"result":1}`, `{"success":false,"error":{},"message":[]}`, `{"title":1,"output":null,"metadata":[]}`, `[`, `{"success":true,"metadata":{"a":1e999}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		doc := document(string(b), true)
		if r, ok := envelope(doc); ok && !json.Valid(r.Encode()) {
			t.Errorf("%q: got %s", b, r.Encode())
		}
	})
}

// A program that is refused processes hears how many there may be.
func TestRefusedProcesses(t *testing.T) {
	p := &process{serving: &script.Serving{Limits: runner.Limits{Processes: 7}}}
	for text, want := range map[string]bool{"BlockingIOError: [Errno 11] Resource temporarily unavailable": true, "Error: spawn sh EAGAIN": true, "KeyError": false} {
		if got := strings.Contains(p.crowded(text), "a toolset may have 7 processes"); got != want {
			t.Errorf("%s: got %q", text, p.crowded(text))
		}
	}
}
