package anthropic_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
)

// whole is a request with everything that one can hold.
func whole() *llm.Request {
	return &llm.Request{
		System: "You have skills.",
		Tools: []llm.Tool{
			{Name: "hello", Description: "greets <all>", Input: json.RawMessage(`{"type":"object","$defs":{"n":{"maximum":9223372036854775807}},"properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)},
			{Name: "glob", Input: json.RawMessage(`{"type":"object"}`)},
		},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{{Text: "tier text"}, {Text: ""}, {Text: " \n"}}},
			{Role: llm.User, Parts: []llm.Part{{Text: "greet Ann"}}},
			{Role: llm.Assistant, Parts: []llm.Part{
				{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)}},
				{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"redacted_thinking","data":"b3BhcXVl"}`)}},
				{State: &llm.State{Owner: "gemini", Data: json.RawMessage(`{"x":1}`)}},
				{Text: "I call."},
				{Call: &llm.Call{ID: "t1", Name: "hello", Args: json.RawMessage(`{"name":"Ann","id":12345678901234567890}`)}},
				{Call: &llm.Call{ID: "t2", Name: "glob", Args: json.RawMessage(`{}`), Raw: `{"cut`}},
			}},
			{Role: llm.User, Parts: []llm.Part{
				{Text: "a word with it"},
				{Result: &llm.Result{ID: "t1", Name: "hello", Text: "Hello Ann"}},
				{Result: &llm.Result{ID: "t2", Name: "glob", Text: "arguments are not JSON", Failed: true}},
				{Result: &llm.Result{ID: "t3", Name: "glob", Text: ""}},
			}},
		},
		MaxTokens: 100,
	}
}

const wholeJSON = `{
 "max_tokens": 100,
 "messages": [
  {"content": [{"text": "tier text", "type": "text"}, {"text": "greet Ann", "cache_control": {"type": "ephemeral"}, "type": "text"}], "role": "user"},
  {"content": [
   {"signature": "c2ln", "thinking": "hm", "type": "thinking"},
   {"data": "b3BhcXVl", "type": "redacted_thinking"},
   {"text": "I call.", "type": "text"},
   {"id": "t1", "input": {"name": "Ann", "id": 12345678901234567890}, "name": "hello", "type": "tool_use"},
   {"id": "t2", "input": {}, "name": "glob", "type": "tool_use"}], "role": "assistant"},
  {"content": [
   {"tool_use_id": "t1", "content": [{"text": "Hello Ann", "type": "text"}], "type": "tool_result"},
   {"tool_use_id": "t2", "is_error": true, "content": [{"text": "arguments are not JSON", "type": "text"}], "type": "tool_result"},
   {"tool_use_id": "t3", "type": "tool_result"},
   {"text": "a word with it", "cache_control": {"type": "ephemeral"}, "type": "text"}], "role": "user"}],
 "model": "claude-test",
 "system": [{"text": "You have skills.", "cache_control": {"type": "ephemeral"}, "type": "text"}],
 "tools": [
  {"input_schema": {"type": "object", "$defs": {"n": {"maximum": 9223372036854775807}}, "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
   "name": "hello", "description": "greets <all>"},
  {"input_schema": {"type": "object"}, "name": "glob", "cache_control": {"type": "ephemeral"}}],
 "stream": true}`

// sent returns the body of the request that the model makes of r.
func sent(t *testing.T, r *llm.Request) string {
	t.Helper()
	s := serve(t, sse(events(start)+text(0, "x")+finish("end_turn")))
	if _, err := collect(t, model(t, s.URL, 0), r); err != nil {
		t.Fatal(err)
	}
	return s.bodies[0]
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// issue 4.1: the request byte for byte, with four marks for the cache, a schema as it is, no empty text, one message
// per turn and results first; the same request gives the same bytes.
func TestRequest(t *testing.T) {
	got := sent(t, whole())
	unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got)
	if want := compact(t, wholeJSON); unescaped != want {
		t.Errorf("got  %s\nwant %s", unescaped, want)
	}
	if n := strings.Count(got, "cache_control"); n != 4 {
		t.Errorf("got %d marks for the cache, want 4", n)
	}
	if again := sent(t, whole()); again != got {
		t.Errorf("got other bytes the second time:\n%s\n%s", got, again)
	}
	want := `{"max_tokens":8192,"messages":[{"content":[{"text":"hello","cache_control":{"type":"ephemeral"},"type":"text"}],"role":"user"}],"model":"claude-test","stream":true}`
	if got := sent(t, hello()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// R97: the prefix of a conversation has the same bytes in each turn, and its messages too but for the marks.
func TestPrefixStays(t *testing.T) {
	first := whole()
	second := whole()
	second.Messages = append(second.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "done"}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "and now?"}}})
	got1, got2 := fields(t, sent(t, first)), fields(t, sent(t, second))
	for _, key := range []string{"system", "tools", "model"} {
		if !bytes.Equal(got1[key], got2[key]) {
			t.Errorf("%s: got %s and then %s", key, got1[key], got2[key])
		}
	}
	unmarked := func(b json.RawMessage) string {
		return strings.ReplaceAll(string(b), `"cache_control":{"type":"ephemeral"},`, "")
	}
	if old := strings.TrimSuffix(unmarked(got1["messages"]), "]"); !strings.HasPrefix(unmarked(got2["messages"]), old) {
		t.Errorf("got messages %s, want them to begin with %s", got2["messages"], old)
	}
	// The place that the first request marked at its end is marked in the second.
	var before, after []struct{ Content []json.RawMessage }
	if json.Unmarshal(got1["messages"], &before) != nil || json.Unmarshal(got2["messages"], &after) != nil {
		t.Fatal("the messages are no list")
	}
	end := before[2].Content[len(before[2].Content)-1]
	if again := after[2].Content[len(after[2].Content)-1]; !bytes.Equal(end, again) || !bytes.Contains(end, []byte("cache_control")) {
		t.Errorf("got %s, then %s; want the same mark", end, again)
	}
}

func fields(t *testing.T, body string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOddRequests(t *testing.T) {
	tests := []struct {
		name string
		msg  llm.Message
		want string
	}{
		{"a state that is not ours", llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"tool_use"}`)}},
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`7`)}}}}, `[]`},
		{"nothing but reasoning of the user", llm.Message{Role: llm.User, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"redacted_thinking","data":"x"}`)}}}},
			`[{"content":[{"data":"x","type":"redacted_thinking"}],"role":"user"}]`},
		{"a call without arguments", llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "a", Name: "b"}}}},
			`[{"content":[{"id":"a","input":{},"name":"b","type":"tool_use"}],"role":"assistant"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &llm.Request{Messages: []llm.Message{tt.msg}, Tools: []llm.Tool{{Name: "bare"}}}
			got := fields(t, sent(t, r))
			if string(got["messages"]) != tt.want && !(tt.want == "[]" && got["messages"] == nil) {
				t.Errorf("got %s, want %s", got["messages"], tt.want)
			}
			if want := `[{"input_schema":{"type":"object"},"name":"bare","cache_control":{"type":"ephemeral"}}]`; string(got["tools"]) != want {
				t.Errorf("got %s, want %s", got["tools"], want)
			}
		})
	}
	r := &llm.Request{Tools: []llm.Tool{{Name: "bad", Input: json.RawMessage(`{`)}}}
	_, err := collect(t, model(t, "http://127.0.0.1:1", 0), r)
	if e, ok := err.(*llm.Error); !ok || e.Kind != llm.BadRequest {
		t.Errorf("got %v, want bad_request", err)
	}
}

// issue 4.1: nothing of the environment reaches a request; what is not given is not looked up.
func TestEnvironmentHasNoEffect(t *testing.T) {
	s := serve(t, sse(events(start)+text(0, "x")+finish("end_turn")))
	evil := serve(t, sse(""))
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR",
		"ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_WORKSPACE_ID",
		"ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_WEBHOOK_SIGNING_KEY"} {
		t.Setenv(name, "evil-value")
	}
	t.Setenv("ANTHROPIC_BASE_URL", evil.URL)
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Evil: evil-value")
	t.Setenv("HTTP_PROXY", evil.URL)
	for _, key := range []string{"key-1", ""} {
		m, err := anthropic.New(&anthropic.Options{Key: key, BaseURL: s.URL + "/", Model: "claude-test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(t, m, hello()); err != nil {
			t.Fatal(err)
		}
		h := s.headers[len(s.headers)-1]
		if got := h.Get("X-Api-Key"); got != key || h.Get("Authorization") != "" {
			t.Errorf("got key %q and authorization %q, want %q and none", got, h.Get("Authorization"), key)
		}
		if dump := dump(h); strings.Contains(dump, "evil") {
			t.Errorf("got headers of the environment: %s", dump)
		}
	}
	if len(evil.paths) != 0 {
		t.Errorf("got %d requests at the environment's address, want none", len(evil.paths))
	}
	_, err := anthropic.New(&anthropic.Options{Model: "claude-test"})
	if e, ok := err.(*llm.Error); !ok || e.Kind != llm.BadKey {
		t.Errorf("got %v, want bad_key without a key", err)
	}
	// Without a BaseURL the vendor's address is asked, whatever the environment says.
	var asked string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})
	m, err := anthropic.New(&anthropic.Options{Key: "k", Model: "claude-test", HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = collect(t, m, hello()) // the address alone is looked at
	if want := "https://api.anthropic.com/v1/messages"; asked != want {
		t.Errorf("got %s, want %s", asked, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefuses(t *testing.T) {
	for _, o := range []anthropic.Options{
		{Key: "k"},
		{Key: "k\n", Model: "m"},
		{Key: "k", Model: "m", BaseURL: "localhost"},
	} {
		if _, err := anthropic.New(&o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// FuzzStream: whatever a server sends, an answer ends with a stop or an error, and its calls have arguments.
func FuzzStream(f *testing.F) {
	f.Add(events(start, ping) + text(0, "a") + toolUse(1, "t", "n", `{"a":1}`) + finish("tool_use"))
	f.Add(events(start, problem("overloaded_error", "x")))
	f.Add("event: content_block_delta\ndata: {\"index\":-1,\"delta\":7,\"content_block\":[1]}\n\n")
	f.Add("data: {}\r\n\r\n:\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, stream), nil
		})}
		m, err := anthropic.New(&anthropic.Options{Key: "k", Model: "m", HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		got, err := collect(t, m, hello())
		if (got.Stop == "") == (err == nil) {
			t.Errorf("got stop %q and error %v, want one of them", got.Stop, err)
		}
		for _, c := range got.Calls() {
			var args map[string]json.RawMessage
			if c.ID == "" || json.Unmarshal(c.Args, &args) != nil {
				t.Errorf("got call %+v, want an id and an object", c)
			}
		}
	})
}

// answer is what a transport gives back.
func answer(r *http.Request, stream string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(stream)), Request: r}
}
