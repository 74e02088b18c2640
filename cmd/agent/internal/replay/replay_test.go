package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// tools makes a request's tools of names.
func tools(names ...string) []llm.Tool {
	var out []llm.Tool
	for _, n := range names {
		out = append(out, llm.Tool{Name: n})
	}
	return out
}

var all = []string{"hello", "skill", "script_list", "script_help", "script_run", "greet_in_language"}

// converse plays a conversation to its end. results are what tools give back, by tool; it returns the calls and the
// last answer.
func converse(t *testing.T, m llm.Model, r *llm.Request, results map[string]tool.Result) (calls, says string) {
	t.Helper()
	calls, says, err := talk(t, m, r, results)
	if err != nil {
		t.Fatal(err)
	}
	return calls, says
}

// talk is converse for a conversation that may end with an error.
func talk(t *testing.T, m llm.Model, r *llm.Request, results map[string]tool.Result) (string, string, error) {
	t.Helper()
	var calls []string
	for range 10 {
		a, err := llm.Collect(t.Context(), m, r, nil)
		if err != nil {
			return strings.Join(calls, " "), a.Text(), err
		}
		if len(a.Calls()) == 0 {
			if a.Stop != llm.StopEnd {
				t.Errorf("stop %q", a.Stop)
			}
			return strings.Join(calls, " "), a.Text(), nil
		}
		if a.Stop != llm.StopCalls {
			t.Errorf("stop %q with calls", a.Stop)
		}
		r.Messages = append(r.Messages, a.Message)
		back := llm.Message{Role: llm.User}
		for _, c := range a.Calls() {
			calls = append(calls, c.Name+string(c.Args))
			res, ok := results[c.Name]
			if !ok {
				res = tool.Success(json.RawMessage(c.Args), "done")
			}
			back.Parts = append(back.Parts, llm.Part{Result: &llm.Result{ID: c.ID, Name: c.Name, Text: string(res.Encode()), Failed: !res.Success}})
		}
		r.Messages = append(r.Messages, back)
	}
	t.Fatal("the replay does not end")
	return "", "", nil
}

func ask(prompt string, offered ...string) *llm.Request {
	return &llm.Request{Tools: tools(offered...), Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "<turn>not the user's</turn>"}, {Text: prompt}}}}}
}

func openDemo(t *testing.T) llm.Model {
	t.Helper()
	m, err := Open("demo", Demo())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const head = "[replay demo: no model answered; tokens are estimated]\n"

// R156, R188: what is asked of the bundled skills plays the calls that answer it, and the answer is made of what came
// back.
func TestDemo(t *testing.T) {
	list := map[string]any{"kalshi-markets": []any{map[string]any{"name": "event", "path": "/x"}, map[string]any{"name": "status", "path": "/y"}},
		"hello-extended": []any{map[string]any{"name": "advanced_greeting", "path": "/z"}}}
	help := map[string]any{"help_text": "Usage: x", "usage": "x"}
	status := map[string]any{"exchange_active": true, "trading_active": false}
	greeting := map[string]any{"greeting": "Hello Ada! <Great> to see you!"}
	found := map[string]any{"matches": 12, "indexed_markets": 9000, "keyword": "bitcoin", "markets": []any{map[string]any{"title": "A"}, map[string]any{"title": "B"}}}
	const (
		helpStatus   = `script_help{"skill_name":"kalshi-markets","script_name":"status"}`
		helpGreeting = `script_help{"skill_name":"hello-extended","script_name":"advanced_greeting"}`
	)
	tests := []struct {
		name, prompt string
		run          any // the result of script_run
		calls, says  string
	}{
		{"hello", "Say hello", nil, `hello{"name":"World"}`, "Hello!"},
		{"hello to somebody", "please say hello to Grace.", nil, `hello{"name":"Grace"}`, "Hello!"},
		{"list one", "With script_list, show me every script that kalshi-markets has", nil, `script_list{"skill_name":"kalshi-markets"}`, "kalshi-markets has 2 scripts: event, status"},
		{"list another", "script_list for hello-extended", nil, `script_list{"skill_name":"hello-extended"}`, "hello-extended has 1 script: advanced_greeting"},
		{"list all", "What does script_list show for all skills?", nil, `script_list{}`, "2 skills have scripts: hello-extended, kalshi-markets"},
		{"help", "script_help: how is kalshi-markets' status used", nil, helpStatus, "Usage: x"},
		{"help of the greeting", "script_help: the advanced greeting in hello-extended", nil, helpGreeting, "Usage: x"},
		{"status", "With script_run: what is the status of the Kalshi exchange?", status, helpStatus + ` script_run{"skill_name":"kalshi-markets","script_name":"status"}`,
			"Exchange active: true. Trading active: false."},
		{"names in capitals", "Run script 'Status' of skill 'Kalshi-Markets'", status, `script_run{"skill_name":"Kalshi-Markets","script_name":"Status"}`,
			"Exchange active: true. Trading active: false."},
		{"search", "search the Kalshi markets for 'bitcoin'", found,
			`script_help{"skill_name":"kalshi-markets","script_name":"search"} script_run{"skill_name":"kalshi-markets","script_name":"search","args":["bitcoin","--limit","3"]}`,
			"12 of 9000 open markets hold bitcoin. The first: A, B"},
		{"greet", "greet Ada warmly", greeting,
			`skill{"skill_name":"hello-extended"} ` + helpGreeting +
				` script_run{"skill_name":"hello-extended","script_name":"advanced_greeting","args":["--name","Ada","--style","enthusiastic"]}`, "Hello Ada! <Great> to see you!"},
		{"run the greeting", "script_run the advanced greeting of hello-extended", greeting,
			helpGreeting + ` script_run{"skill_name":"hello-extended","script_name":"advanced_greeting","args":["--name","Ada","--style","formal"]}`, "Hello Ada! <Great> to see you!"},
		{"spanish", "greet me in Spanish", nil, `skill{"skill_name":"hello-extended"} greet_in_language{"name":"friend","language":"es"}`, "¡Hola, friend!"},
	}
	m := openDemo(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			calls, says := converse(t, m, ask(tt.prompt, all...), map[string]tool.Result{
				"hello": tool.Success("Hello!", ""), "script_list": tool.Success(list, ""), "script_help": tool.Success(help, ""),
				"script_run": tool.Success(tt.run, ""), "skill": tool.Success("", ""), "greet_in_language": tool.Success("¡Hola, friend!", "")})
			if calls != tt.calls || says != head+tt.says {
				t.Errorf("got  %s\n     %q\nwant %s\n     %q", calls, says, tt.calls, head+tt.says)
			}
		})
	}
}

// Every prompt that the demo offers is one that it plays.
func TestDemoPlaysWhatItOffers(t *testing.T) {
	scenes, err := parse("demo", Demo())
	if err != nil {
		t.Fatal(err)
	}
	p := &player{name: "demo", scenes: scenes}
	for _, s := range scenes {
		if got, _ := p.find(s.prompt); got != s {
			t.Errorf("%q plays another scene", s.prompt)
		}
	}
}

// A replay never plays on as if all were well.
func TestHonesty(t *testing.T) {
	m := openDemo(t)
	failed := map[string]tool.Result{"script_run": tool.Failure(tool.ExecutionFailed, "uv is not installed.")}
	lacking := map[string]tool.Result{"script_run": tool.Success("plain text", "")}
	elsewhere := ask("greet Ada", all...)
	elsewhere.Messages = append(elsewhere.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "x", Name: "other", Args: json.RawMessage(`{}`)}}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{{Result: &llm.Result{ID: "x", Name: "other"}}}})
	tests := []struct {
		name    string
		r       *llm.Request
		results map[string]tool.Result
		says    string
	}{
		{"a failure", ask("greet Ada", all...), failed, "This replay stops here: script_run failed: uv is not installed."},
		{"a tool that is missing", ask("greet me in Spanish", "skill"), nil, `This replay stops here: it calls the tool "greet_in_language", which is not available.`},
		{"a result without what is quoted", ask("greet Ada", all...), lacking, "This replay stops here: the result of script_run has nothing at {{result.greeting}}."},
		{"another conversation", elsewhere, nil, "This replay stops here: the conversation is not where the file expects it."},
		{"another prompt", ask("What is the weather?", all...), nil, `A replay plays recorded conversations. This one knows: "Say hello", "Greet me in Spanish with the hello-extended skill",`},
		{"no prompt", &llm.Request{}, nil, "A replay plays recorded conversations."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, says, err := talk(t, m, tt.r, tt.results)
			var stopped *StoppedError
			if stops := strings.HasPrefix(tt.says, "This replay stops here: "); errors.As(err, &stopped) != stops || !stops && err != nil {
				t.Errorf("A8: got the error %v", err)
			} else if stops && (stopped.Name != "demo" || !strings.Contains(says, stopped.Err.Error())) {
				t.Errorf("got the error %v with %q", err, says)
			}
			if !strings.HasPrefix(says, head+tt.says) || strings.Count(says, "\n") != 1 {
				t.Errorf("got %q", says)
			}
		})
	}
}

// The same request gets the same answer, the second prompt of a conversation its own scene, and every call its own id.
func TestConversation(t *testing.T) {
	m := openDemo(t)
	r := ask("greet Ada", all...)
	results := map[string]tool.Result{"script_run": tool.Success(map[string]any{"greeting": "Hi"}, "")}
	converse(t, m, r, results)
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "Hi"}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "Say hello"}}})
	first, err := llm.Collect(t.Context(), m, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := llm.Collect(t.Context(), m, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(first)
	b, _ := json.Marshal(second)
	if string(a) != string(b) || len(first.Calls()) != 1 || first.Calls()[0].ID != "replay_4" {
		t.Errorf("got\n%s\n%s", a, b)
	}
	if first.Usage.Input < 50 || first.Usage.Output < 3 {
		t.Errorf("usage %+v", first.Usage)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Collect(ctx, m, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for range m.Stream(t.Context(), r) {
		break
	}
}

func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{
		head + "yes": "yes", "yes": "yes", "a\n" + head + "yes": "a\n" + head + "yes", "[replay \n" + head: "[replay \n" + head, "": "",
	} {
		if got := Unmarked(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
