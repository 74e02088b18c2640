package gemini_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/gemini"
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
			{Role: llm.User, Parts: []llm.Part{{Text: "tier text"}, {Text: ""}}},
			{Role: llm.User, Parts: []llm.Part{{Text: "greet Ann"}}},
			{Role: llm.Assistant, Parts: []llm.Part{
				state(`{"thoughtSignature":"dGg=","text":"more","thought":true}`),
				{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"thinking"}`)}},
				{Text: "I look. Now."},
				state(`{"thoughtSignature":"dHg=","text":" Now."}`),
				{Call: &llm.Call{ID: "gemini_call_1", Name: "hello", Args: json.RawMessage(`{"name":"Ann","id":12345678901234567890}`)}},
				state(`{"thoughtSignature":"Y2FsbA==","call":true}`),
				{Call: &llm.Call{ID: "own", Name: "glob", Args: json.RawMessage(`{}`), Raw: `{"cut`}},
				{Text: "whole"},
				state(`{"thoughtSignature":"dHg=","text":"whole"}`),
				state(`{"thoughtSignature":"ZW5k"}`),
			}},
			{Role: llm.User, Parts: []llm.Part{
				{Text: "a word with it"},
				{Result: &llm.Result{ID: "gemini_call_1", Name: "hello", Text: "Hello Ann"}},
				{Result: &llm.Result{ID: "own", Name: "glob", Text: "arguments are not JSON", Failed: true}},
			}},
		},
		MaxTokens: 100,
	}
}

const wholeJSON = `{
 "contents": [
  {"parts": [{"text": "tier text"}, {"text": "greet Ann"}], "role": "user"},
  {"parts": [
   {"text": "more", "thought": true, "thoughtSignature": "dGg="},
   {"text": "I look."},
   {"text": " Now.", "thoughtSignature": "dHg="},
   {"functionCall": {"args": {"name": "Ann", "id": 12345678901234567890}, "name": "hello"}, "thoughtSignature": "Y2FsbA=="},
   {"functionCall": {"args": {}, "id": "own", "name": "glob"}},
   {"text": "whole", "thoughtSignature": "dHg="},
   {"text": "", "thoughtSignature": "ZW5k"}], "role": "model"},
  {"parts": [
   {"functionResponse": {"name": "hello", "response": {"output": "Hello Ann"}}},
   {"functionResponse": {"id": "own", "name": "glob", "response": {"error": "arguments are not JSON"}}},
   {"text": "a word with it"}], "role": "user"}],
 "generationConfig": {"maxOutputTokens": 100},
 "systemInstruction": {"parts": [{"text": "You have skills."}], "role": "user"},
 "tools": [{"functionDeclarations": [
  {"description": "greets <all>", "name": "hello",
   "parametersJsonSchema": {"type": "object", "$defs": {"n": {"maximum": 9223372036854775807}}, "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}},
  {"name": "glob", "parametersJsonSchema": {"type": "object"}}]}]}`

// sent returns the body of the request that the model makes of r.
func sent(t *testing.T, r *llm.Request) string {
	t.Helper()
	s := serve(t, sse(chunks(end("STOP"))))
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

// issue 4.1: the request byte for byte, with schemas and arguments as they are, signatures on their parts, no empty
// text, one message per turn and results first; the same request gives the same bytes.
func TestRequest(t *testing.T) {
	got := sent(t, whole())
	unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(strings.TrimSpace(got))
	if want := compact(t, wholeJSON); unescaped != want {
		t.Errorf("got  %s\nwant %s", unescaped, want)
	}
	if again := sent(t, whole()); again != got {
		t.Errorf("got other bytes the second time:\n%s\n%s", got, again)
	}
	want := `{"contents":[{"parts":[{"text":"hello"}],"role":"user"}],"generationConfig":{}}`
	if got := strings.TrimSpace(sent(t, hello())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// R97: the prefix of a conversation has the same bytes in each turn, its messages too.
func TestPrefixStays(t *testing.T) {
	first := whole()
	second := whole()
	second.Messages = append(second.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "done"}}},
		llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "and now?"}}})
	got1, got2 := fields(t, sent(t, first)), fields(t, sent(t, second))
	for _, key := range []string{"systemInstruction", "tools", "generationConfig"} {
		if !bytes.Equal(got1[key], got2[key]) {
			t.Errorf("%s: got %s and then %s", key, got1[key], got2[key])
		}
	}
	if old := strings.TrimSuffix(string(got1["contents"]), "]"); !strings.HasPrefix(string(got2["contents"]), old) {
		t.Errorf("got contents %s, want them to begin with %s", got2["contents"], old)
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
	call := llm.Part{Call: &llm.Call{ID: "a", Name: "b"}}
	const sentCall = `{"functionCall":{"args":{},"id":"a","name":"b"}}`
	tests := []struct {
		name  string
		parts []llm.Part
		want  string
	}{
		{"a call without arguments", []llm.Part{call}, sentCall},
		{"a state that is not ours", []llm.Part{call, state(`7`), state(`{}`)}, sentCall},
		{"a call's signature without its call", []llm.Part{{Text: "x"}, state(`{"thoughtSignature":"YQ==","call":true}`)}, `{"text":"x"}`},
		{"a text's signature without its text", []llm.Part{call, state(`{"thoughtSignature":"YQ==","text":"x"}`)}, sentCall},
		{"two signatures of a call", []llm.Part{call, state(`{"thoughtSignature":"YQ==","call":true}`), state(`{"thoughtSignature":"Yg==","call":true}`)},
			`{"functionCall":{"args":{},"id":"a","name":"b"},"thoughtSignature":"YQ=="}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &llm.Request{Messages: []llm.Message{{Role: llm.Assistant, Parts: tt.parts}}, Tools: []llm.Tool{{Name: "bare"}}}
			got := fields(t, sent(t, r))
			if want := `[{"parts":[` + tt.want + `],"role":"model"}]`; string(got["contents"]) != want {
				t.Errorf("got %s, want %s", got["contents"], want)
			}
			if want := `[{"functionDeclarations":[{"name":"bare"}]}]`; string(got["tools"]) != want {
				t.Errorf("got %s, want %s", got["tools"], want)
			}
		})
	}
	r := hello()
	r.Tools = []llm.Tool{{Name: "bad", Input: json.RawMessage(`{`)}}
	_, err := collect(t, model(t, "http://127.0.0.1:1", 0), r)
	if e, ok := err.(*llm.Error); !ok || e.Kind != llm.BadRequest {
		t.Errorf("got %v, want bad_request", err)
	}
}

// issue 4.1: nothing of the environment reaches a request; what is not given is not looked up.
func TestEnvironmentHasNoEffect(t *testing.T) {
	s := serve(t, sse(chunks(end("STOP"))))
	evil := serve(t, sse(""))
	for _, name := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_CLOUD_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_REPLAYS_DIRECTORY"} {
		t.Setenv(name, "evil-value")
	}
	for _, name := range []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "HTTP_PROXY"} {
		t.Setenv(name, evil.URL)
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GENAI_USE_ENTERPRISE", "true")
	for _, key := range []string{"key-1", ""} {
		m, err := gemini.New(&gemini.Options{Key: key, BaseURL: s.URL + "/", Model: "gemini-test"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := collect(t, m, hello()); err != nil {
			t.Fatal(err)
		}
		h := s.headers[len(s.headers)-1]
		if got := h.Get("X-Goog-Api-Key"); got != key || h.Get("Authorization") != "" {
			t.Errorf("got key %q and authorization %q, want %q and none", got, h.Get("Authorization"), key)
		}
		if dump := dump(h); strings.Contains(dump, "evil") {
			t.Errorf("got headers of the environment: %s", dump)
		}
	}
	if len(evil.paths) != 0 {
		t.Errorf("got %d requests at the environment's address, want none", len(evil.paths))
	}
	_, err := gemini.New(&gemini.Options{Model: "gemini-test"})
	if e, ok := err.(*llm.Error); !ok || e.Kind != llm.BadKey {
		t.Errorf("got %v, want bad_key without a key", err)
	}
	// Without a BaseURL the vendor's address is asked, whatever the environment says.
	var asked string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, http.ErrHandlerTimeout
	})
	m, err := gemini.New(&gemini.Options{Key: "k", Model: "gemini-test", HTTP: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = collect(t, m, hello()) // the address alone is looked at
	if want := "https://generativelanguage.googleapis.com/v1beta/models/gemini-test:streamGenerateContent?alt=sse"; asked != want {
		t.Errorf("got %s, want %s", asked, want)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefuses(t *testing.T) {
	for _, o := range []gemini.Options{
		{Key: "k"},
		{Key: "k\n", Model: "m"},
		{Key: "k", Model: "m", BaseURL: "localhost"},
	} {
		if _, err := gemini.New(&o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

// FuzzStream: whatever a server sends, an answer ends with a stop or an error, and its calls have arguments.
func FuzzStream(f *testing.F) {
	f.Add(chunks(say(`{"text":"a"}`, `{"functionCall":{"name":"n","args":{"a":1}},"thoughtSignature":"YQ=="}`), end("STOP")))
	f.Add(chunks(say(`{"functionCall":{"args":[1]}}`), problem(503, "x", "")))
	f.Add("data: {\"candidates\":[null,{\"content\":null}],\"promptFeedback\":7,\"usageMetadata\":{\"promptTokenCount\":-1}}\n\n")
	f.Add("data: {\"error\":\"x\"}\r\n\r\n:\n\ndata: 1\ndata:2\n\n{\"error\":{}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, stream), nil
		})}
		m, err := gemini.New(&gemini.Options{Key: "k", Model: "m", HTTP: client})
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
