package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// What goes wrong with a call is told to the model as its result (R102, R120).
func TestFailuresAreResults(t *testing.T) {
	raw := func(s string) *llm.Call { c := call("a", "echo", ""); c.Raw = s; return c }
	tests := []struct {
		name string
		call *llm.Call
		want []string
	}{
		{"unknown tool", call("a", "nope", `{}`), []string{`"error":"not_found"`, "nope"}},
		{"denied", call("a", "bash", `{}`), []string{`"error":"permission_denied"`, "not here"}},
		{"panic", call("a", "boom", `{}`), []string{`"error":"execution_failed"`}},
		{"cut arguments", raw(`{"x":`), []string{`"reason":"invalid_arguments"`, "unexpected end of JSON input", `they were: {\"x\":`}},
		{"a list", raw(`[1]`), []string{`"reason":"invalid_arguments"`, "must be one JSON object"}},
		{"long nonsense", raw(strings.Repeat("x", 9999)), []string{"cannot be read: invalid character"}},
		{"arguments that are no object, not marked", call("a", "echo", `[1]`), []string{`"reason":"invalid_arguments"`}},
		{"a key twice", call("a", "echo", `{"x":1,"x":2}`), []string{`"reason":"invalid_arguments"`, `key \"x\" is repeated`}},
	}
	boom := tool.Tool{Name: "boom", Call: func(context.Context, json.RawMessage) tool.Result { panic("inside") }}
	bash := tool.Tool{Name: "bash", Call: func(context.Context, json.RawMessage) tool.Result { return tool.Success(nil, "ran") }}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := executor(t, echo(), boom, bash)
			e.Check = func(_ context.Context, name string, _ json.RawMessage) error {
				if name == "bash" {
					return errors.New("not here")
				}
				return nil
			}
			m := scripted(t, calls(tt.call), says("done"))
			_, a, err := collect(t, New(&Options{Model: m, Tools: e}), t.Context(), "go")
			if err != nil || a.Stop != End {
				t.Fatalf("got %+v, %v", a, err)
			}
			r := m.last.Messages[2].Parts[0].Result
			for _, want := range tt.want {
				if !r.Failed || !strings.Contains(r.Text, want) {
					t.Errorf("got %+v, want %s in it", r, want)
				}
			}
		})
	}
}

// Missing arguments and null are no arguments, whichever field they are in: the tool is called with {}.
func TestNoArguments(t *testing.T) {
	for _, c := range []*llm.Call{call("a", "echo", ""), call("a", "echo", "null"), {ID: "a", Name: "echo", Raw: "null"}, {ID: "a", Name: "echo", Raw: " \n"}} {
		m := scripted(t, calls(c), says("done"))
		got := ""
		noting := tool.Tool{Name: "echo", Call: func(_ context.Context, args json.RawMessage) tool.Result {
			got = string(args)
			return tool.Success(nil, "")
		}}
		if _, a, err := collect(t, New(&Options{Model: m, Tools: executor(t, noting)}), t.Context(), "go"); err != nil || a.Stop != End || got != "{}" {
			t.Errorf("%+v: %+v, %v, the tool got %q", c, a, err, got)
		}
	}
}

// R120: providers refuse a conversation with a name that no tool can have, so the history has another one. The model reads the name
// that it wrote in the result.
func TestNamesInHistory(t *testing.T) {
	for name, want := range map[string]string{
		"nope": "nope", "b\u0430sh": "b_sh", "a b/c": "a_b_c", "": "unknown", strings.Repeat("x", 99): strings.Repeat("x", 64), "dotted.echo": "dotted.echo",
	} {
		dotted := echo()
		dotted.Name = "dotted.echo"
		m := scripted(t, calls(call("a", name, `{}`)), says("done"))
		_, _, err := collect(t, New(&Options{Model: m, Tools: executor(t, echo(), dotted)}), t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		c, r := m.last.Messages[1].Parts[0].Call, m.last.Messages[2].Parts[0].Result
		if c.Name != want || r.Name != want || r.Failed && !strings.Contains(r.Text, name) {
			t.Errorf("%q: call %q, result %q %s", name, c.Name, r.Name, r.Text)
		}
	}
}

// A model that has no tools and calls one is told so.
func TestNoTools(t *testing.T) {
	for name, e := range map[string]*tool.Executor{"no executor": nil, "no set": {}} {
		m := scripted(t, calls(call("a", "x", `{}`)), says("done"))
		if _, a, err := collect(t, New(&Options{Model: m, Tools: e}), t.Context(), "go"); err != nil || a.Text != "done" {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if m.last.Tools != nil {
			t.Errorf("%s: tools %v", name, m.last.Tools)
		}
	}
}

// Ids that are missing or come again are replaced, so that each result finds its call.
func TestRepeatedIDs(t *testing.T) {
	m := scripted(t, calls(call("a", "echo", `{"n":1}`), call("a", "echo", `{"n":2}`), call("", "echo", `{"n":3}`)),
		calls(call("a", "echo", `{"n":4}`), call("call_2", "echo", `{"n":5}`)), says("done"))
	c := New(&Options{Model: m, Tools: executor(t, echo())})
	if _, _, err := collect(t, c, t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range c.Messages() {
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			if seen[p.Call.ID] {
				t.Errorf("id %q twice", p.Call.ID)
			}
			seen[p.Call.ID] = true
		}
	}
	if len(seen) != 5 || !seen["a"] {
		t.Errorf("ids: %v", seen)
	}
}

// Calls of one answer run in their order: what the first one changes holds for the second.
func TestCallsInOrder(t *testing.T) {
	allowed := false
	activate := tool.Tool{Name: "activate", Call: func(context.Context, json.RawMessage) tool.Result { allowed = true; return tool.Success(nil, "") }}
	e := executor(t, activate, echo())
	e.Check = func(_ context.Context, name string, _ json.RawMessage) error {
		if name == "echo" && !allowed {
			return errors.New("not yet")
		}
		return nil
	}
	m := scripted(t, calls(call("a", "echo", `{}`), call("b", "activate", `{}`), call("c", "echo", `{}`)), says("done"))
	if _, _, err := collect(t, New(&Options{Model: m, Tools: e}), t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	parts := m.last.Messages[2].Parts
	if !parts[0].Result.Failed || parts[1].Result.Failed || parts[2].Result.Failed {
		t.Errorf("results: %+v", parts)
	}
}

// One answer cannot have any number of calls run; each has its result all the same.
func TestManyCalls(t *testing.T) {
	ran := 0
	count := tool.Tool{Name: "count", Call: func(context.Context, json.RawMessage) tool.Result { ran++; return tool.Success(nil, "") }}
	var many []*llm.Call
	for range maxCalls + 5 {
		many = append(many, call("", "count", `{}`))
	}
	m := scripted(t, calls(many...), says("done"))
	if _, a, err := collect(t, New(&Options{Model: m, Tools: executor(t, count)}), t.Context(), "go"); err != nil || a.Stop != End {
		t.Fatalf("got %+v, %v", a, err)
	}
	parts := m.last.Messages[2].Parts
	if ran != maxCalls || len(parts) != len(many) {
		t.Errorf("%d calls ran and %d have a result, want %d and %d", ran, len(parts), maxCalls, len(many))
	}
	if r := parts[maxCalls].Result; parts[maxCalls-1].Result.Failed || !r.Failed || !strings.Contains(r.Text, "one answer may have 100 calls") {
		t.Errorf("the first that was not run: %+v", r)
	}
}

func TestLimitText(t *testing.T) {
	tests := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"short", "abc", 3, "abc"},
		{"short in characters", "äöü", 3, "äöü"},
		{"long", "0123456789abcdefghij", 10, "01\n[… 10 characters left out …]\ncdefghij"},
		{"between runes", "ääääääääöööööööö", 5, "ä\n[… 11 characters left out …]\nöööö"},
		{"bytes that are no text", "\xff\xfe\xfd\xfc\xfb\xfa", 5, "\xff\n[… 1 characters left out …]\n\xfd\xfc\xfb\xfa"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut := limitText(tt.text, tt.limit)
			if got != tt.want || cut != (got != tt.text) {
				t.Errorf("got %q, %t, want %q", got, cut, tt.want)
			}
		})
	}
}

func FuzzLimitText(f *testing.F) {
	f.Add("äbc", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1000 {
			return
		}
		got, cut := limitText(text, limit)
		if n := utf8.RuneCountInString(got); n > limit+60 {
			t.Errorf("%d characters, the limit is %d", n, limit)
		}
		if !cut && got != text {
			t.Errorf("changed and not told: %q", got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("cut in the middle of a character: %q", got)
		}
	})
}

// A big result is cut, and many big ones together leave room for the conversation to go on.
func TestResultLimit(t *testing.T) {
	big := tool.Tool{Name: "big", Call: func(context.Context, json.RawMessage) tool.Result {
		return tool.Success(strings.Repeat("ä", 100_000), "")
	}}
	var many []*llm.Call
	for range 20 {
		many = append(many, call("", "big", `{}`))
	}
	m := scripted(t, calls(many...), says("done"))
	c := New(&Options{Model: m, Tools: executor(t, big)})
	steps, _, err := collect(t, c, t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if s.Result != nil && (!s.Result.Cut || !strings.Contains(s.Result.Text, "characters left out")) {
			t.Errorf("a result that is not cut: %+v", s.Result.Call)
		}
	}
	parts := m.last.Messages[2].Parts
	if n := utf8.RuneCountInString(parts[0].Result.Text); n < resultLimit || n > resultLimit+60 {
		t.Errorf("the first result has %d characters", n)
	}
	if n := size(parts) / bytesPerToken; n > DefaultWindow*80/100 {
		t.Errorf("the results have about %d tokens", n)
	}
}
