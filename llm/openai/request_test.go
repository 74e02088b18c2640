package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

const (
	chatDone      = `{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`
	responsesDone = `{"type":"response.completed","response":{"status":"completed"}}`
)

// The whole body of a request, byte for byte: what providers cache.
func TestResponsesBody(t *testing.T) {
	s := serve(t, responsesDone)
	tests := []struct{ name, model, include, reasoning string }{
		{"a model that reasons", "gpt-5.1", `"include":["reasoning.encrypted_content"],`,
			`{"encrypted_content":"xyz","id":"rs_1","summary":[],"type":"reasoning"},`},
		{"one that is not known to", "llama3.3", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := New(&Options{BaseURL: s.URL + "/v1", Model: tt.model})
			if _, err := lines(t.Context(), m, talk()); err != nil {
				t.Fatal(err)
			}
			want := `{"instructions":"Be <brief> & kind.","max_output_tokens":100,"prompt_cache_key":"conversation-1","store":false,` +
				tt.include + `"input":[{"role":"user","content":"the turn"},{"role":"user","content":"the prompt"},` + tt.reasoning +
				`{"role":"assistant","content":"I look."},` +
				`{"type":"function_call","call_id":"c1","name":"look","arguments":"{\"z\":\"<1>\"}"},` +
				`{"type":"function_call","call_id":"c2","name":"wait","arguments":"{}"},` +
				`{"role":"user","content":"by the way"},` +
				`{"type":"function_call_output","call_id":"c1","output":"{\"success\":true}"},` +
				`{"type":"function_call_output","call_id":"c2","output":"no"}],"model":"` + tt.model + `",` +
				`"tools":[{"type":"function","name":"look","description":"Looks.","parameters":` + string(talk().Tools[0].Input) + `,"strict":false},` +
				`{"type":"function","name":"wait","parameters":{"type":"object","properties":{}},"strict":false}],"stream":true}` + "\n"
			if got := s.Last().Body; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestChatBody(t *testing.T) {
	s := serve(t, chatDone)
	if _, err := lines(t.Context(), NewChat(&Options{BaseURL: s.URL + "/v1", Model: "qwen3"}), talk()); err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"system","content":"Be <brief> & kind."},{"role":"user","content":"the turn\n\nthe prompt"},` +
		`{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"z\":\"<1>\"}"}},` +
		`{"id":"c2","type":"function","function":{"name":"wait","arguments":"{}"}}]},` +
		`{"role":"tool","content":"{\"success\":true}","tool_call_id":"c1"},{"role":"tool","content":"no","tool_call_id":"c2"},` +
		`{"role":"user","content":"by the way"}],"model":"qwen3","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":` + string(talk().Tools[0].Input) + `}},` +
		`{"type":"function","function":{"name":"wait","parameters":{"type":"object","properties":{}}}}]}` + "\n"
	if got := s.Last().Body; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The address and the key's header depend on whose servers are asked; so do some fields of Chat Completions, but none of
// Responses.
func TestHosts(t *testing.T) {
	tests := []struct {
		name, base, url, authorization, apiKey string
		has, lacks                             []string // in a body of Chat Completions
	}{
		{"vendor", "", "https://api.openai.com/v1/PATH", "Bearer the-key", "",
			[]string{`"max_completion_tokens":100`, `"prompt_cache_key":"conversation-1"`}, []string{`"max_tokens"`}},
		{"compatible without a path", "http://localhost:11434", "http://localhost:11434/v1/PATH", "Bearer the-key", "",
			[]string{`"max_tokens":100`}, []string{"prompt_cache_key", "max_completion_tokens"}},
		{"compatible with one", "https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/PATH", "Bearer the-key", "",
			[]string{`"max_tokens":100`}, []string{"prompt_cache_key"}},
		{"azure", "https://me.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
			"https://me.openai.azure.com/openai/deployments/d/PATH?api-version=2024-10-21", "", "the-key",
			[]string{`"max_completion_tokens":100`}, []string{"prompt_cache_key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &Options{BaseURL: tt.base, Key: "the-key", Model: "m"}
			url := func(path string) string { return strings.ReplaceAll(tt.url, "PATH", path) }
			responses, chat := sends(t, New, o, url("responses")), sends(t, NewChat, o, url("chat/completions"))
			for _, sent := range []*http.Request{responses, chat} {
				if h := sent.Header; h.Get("Authorization") != tt.authorization || h.Get("Api-Key") != tt.apiKey || h.Get("Content-Type") != "application/json" {
					t.Errorf("%s: got the header %v", sent.URL, h)
				}
			}
			body := bodyOf(t, chat)
			for _, want := range tt.has {
				if !strings.Contains(body, want) {
					t.Errorf("no %s in %s", want, body)
				}
			}
			for _, bad := range tt.lacks {
				if strings.Contains(body, bad) {
					t.Errorf("%s in %s", bad, body)
				}
			}
		})
	}
}

// sends returns the request that a model makes, and checks its address.
func sends(t *testing.T, build func(*Options) llm.Model, o *Options, url string) *http.Request {
	t.Helper()
	var sent *http.Request
	with := *o
	with.HTTP = &http.Client{Transport: wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(sse(chatDone, responsesDone)))}, nil
	})}
	if _, err := lines(t.Context(), build(&with), talk()); err != nil {
		t.Fatal(err)
	}
	if got := sent.URL.String(); got != url {
		t.Errorf("got %s, want %s", got, url)
	}
	return sent
}

func bodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The variables of OpenAI's SDKs change nothing: neither where requests go nor what they hold.
func TestEnvironmentIsNotRead(t *testing.T) {
	s := serve(t, chatDone, responsesDone)
	models := map[string]llm.Model{}
	ask := func() string {
		var out string
		for _, name := range []string{"chat", "responses"} {
			if _, err := lines(t.Context(), models[name], talk()); err != nil {
				t.Fatal(err)
			}
			a := s.Last()
			out += fmt.Sprint(a.URL, a.Header, a.Body, "\n")
		}
		return out
	}
	build := func() {
		models["chat"] = NewChat(&Options{BaseURL: s.URL, Model: "m"})
		models["responses"] = New(&Options{BaseURL: s.URL, Model: "m"})
	}
	build()
	want := ask()
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET"} {
		t.Setenv(name, "stolen")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Stolen: yes")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	build()
	if got := ask(); got != want || strings.Contains(got, "tolen") {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Issue 4: from turn to turn, what was sent stays as it was, and providers can keep it.
func TestPrefixIsStable(t *testing.T) {
	for name, build := range map[string]func(*Options) llm.Model{"responses": New, "chat": NewChat} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, chatDone, responsesDone)
			m := build(&Options{BaseURL: s.URL, Model: "gpt-5"})
			first, second := talk(), talk()
			second.Messages = append(second.Messages,
				llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Text: "done"}}},
				llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "more"}}})
			var bodies []string
			for _, r := range []*llm.Request{first, second} {
				if _, err := lines(t.Context(), m, r); err != nil {
					t.Fatal(err)
				}
				bodies = append(bodies, s.Last().Body)
			}
			head, tail, ok := strings.Cut(bodies[0], `],"model":`)
			if !ok || !strings.HasPrefix(bodies[1], head+",{") || !strings.HasSuffix(bodies[1], tail) {
				t.Errorf("the second request does not go on with the first:\n%s\n%s", bodies[0], bodies[1])
			}
		})
	}
}

func TestReasons(t *testing.T) {
	for name, want := range map[string]bool{
		"gpt-5": true, "gpt-5.1-codex": true, "gpt-5-mini": true, "o3": true, "o4-mini": true, "openai/o1": true, "gpt-10": true, "codex-mini-latest": true,
		"gpt-4o": false, "gpt-4.1": false, "gpt-5-chat-latest": false, "gpt-oss-20b": false, "llama3.3": false, "olmo": false, "my-deployment": false, "": false,
	} {
		if got := reasons(name); got != want {
			t.Errorf("%q: got %v", name, got)
		}
	}
}

func TestRequestThatCannotBeMade(t *testing.T) {
	bad := hello()
	bad.Tools = []llm.Tool{{Name: "x", Input: json.RawMessage(`[]`)}}
	tests := []struct {
		name string
		o    Options
		r    *llm.Request
		kind llm.ErrorKind
		text string
	}{
		{"schema", Options{BaseURL: "http://127.0.0.1:1"}, bad, llm.BadRequest, `the schema of tool "x" is not a JSON object`},
		{"base URL", Options{BaseURL: "localhost:8080"}, hello(), llm.BadRequest, "base URL"},
		{"query", Options{BaseURL: "http://127.0.0.1:1?a=%zz"}, hello(), llm.BadRequest, "query"},
		{"key", Options{BaseURL: "http://127.0.0.1:1", Key: "a\nb"}, hello(), llm.BadKey, "line break"},
	}
	for _, tt := range tests {
		for name, m := range map[string]llm.Model{"responses": New(&tt.o), "chat": NewChat(&tt.o)} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				_, err := lines(t.Context(), m, tt.r)
				if kindOf(err) != string(tt.kind) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %s: %v", kindOf(err), err)
				}
			})
		}
	}
}

// issue 26.5: both protocols take the word; Responses is asked for a summary of the thoughts.
func TestEffort(t *testing.T) {
	s := serve(t, chatDone, responsesDone)
	r := talk()
	r.Effort.Level = "low"
	for want, m := range map[string]llm.Model{
		`"reasoning_effort":"low"`:                      NewChat(&Options{BaseURL: s.URL + "/v1", Model: "m"}),
		`"reasoning":{"effort":"low","summary":"auto"}`: New(&Options{BaseURL: s.URL + "/v1", Model: "m"}),
	} {
		for range m.Stream(t.Context(), r) {
		}
		if got := s.Last().Body; !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}
