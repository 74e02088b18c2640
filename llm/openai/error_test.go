package openai

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// answer is a client that gets body from whomever it asks.
func answer(body []byte) *http.Client {
	return &http.Client{Transport: wiretest.RoundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}, nil
	})}
}

// both runs a test with both protocols.
func both(t *testing.T, o *Options, f func(t *testing.T, m llm.Model)) {
	t.Helper()
	t.Run("responses", func(t *testing.T) { f(t, New(o)) })
	t.Run("chat", func(t *testing.T) { f(t, NewChat(o)) })
}

// What a server says no with.
func TestRefused(t *testing.T) {
	status := wiretest.Status
	tests := []struct {
		name   string
		answer http.HandlerFunc
		kind   llm.ErrorKind
		text   string
	}{
		{"bad key", status(401, `{"error":{"message":"Incorrect API key: sk-secret-key","type":"invalid_request_error","code":"invalid_api_key"}}`),
			llm.BadKey, "openai: Incorrect API key: [the key] (HTTP 401)"},
		{"no right", status(403, `{"error":{"message":"not here"}}`), llm.BadKey, "openai: not here (HTTP 403)"},
		{"no model", status(404, `{"error":{"message":"no model x","code":"model_not_found"}}`), llm.NoModel, "openai: no model x (HTTP 404)"},
		{"no model at Ollama", status(404, `{"error":"model \"x\" not found, try pulling it first"}`), llm.NoModel, `openai: model "x" not found, try pulling it first (HTTP 404)`},
		{"no model in a 400", status(400, `{"error":{"message":"no model x","code":"model_not_found"}}`), llm.NoModel, "openai: no model x (HTTP 400)"},
		{"no such address", status(404, "404 page not found"), llm.BadRequest, "openai: the server knows no such address; a base URL mostly ends in /v1 (HTTP 404)"},
		{"plain text", status(500, "out of memory"), llm.Overloaded, "openai: out of memory (HTTP 500)"},
		{"too long", status(400, `{"error":{"message":"too many","type":"invalid_request_error","code":"context_length_exceeded"}}`), llm.TooLong, "openai: too many (HTTP 400)"},
		{"too long at vLLM", status(400, `{"object":"error","message":"This model's maximum context length is 10 tokens","type":"BadRequestError","code":400}`),
			llm.TooLong, "openai: This model's maximum context length is 10 tokens (HTTP 400)"},
		{"too long at llama.cpp", status(400, `{"error":{"code":400,"message":"the request exceeds it","type":"exceed_context_size_error"}}`), llm.TooLong, "openai: the request exceeds it (HTTP 400)"},
		{"quota", status(429, `{"error":{"message":"check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`), llm.BadRequest, "openai: check your plan (HTTP 429)"},
		{"rate", status(429, `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`, "Retry-After", "7"), llm.RateLimit, "openai: slow (HTTP 429)"},
		{"a bad moment", status(503, "<html>"), llm.Overloaded, "openai: Service Unavailable (HTTP 503)"},
		{"bad request", status(400, `{"error":{"message":"no such field","code":null}}`), llm.BadRequest, "openai: no such field (HTTP 400)"},
		{"a list", status(400, `[{"error":{"message":"in a list","code":400}}]`), llm.BadRequest, "openai: in a list (HTTP 400)"},
		{"detail", status(422, `{"detail":[{"msg":"field required"}]}`), llm.BadRequest, `openai: [{"msg":"field required"}] (HTTP 422)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Serve(t, tt.answer)
			both(t, &Options{BaseURL: s.URL, Key: "sk-secret-key"}, func(t *testing.T, m llm.Model) {
				_, err := lines(t.Context(), m, hello())
				if kindOf(err) != string(tt.kind) || err.Error() != tt.text {
					t.Errorf("got  %s: %v\nwant %s: %s", kindOf(err), err, tt.kind, tt.text)
				}
				if e, ok := err.(*llm.Error); ok && tt.kind == llm.RateLimit && e.RetryAfter != 7*time.Second {
					t.Errorf("retry after %s", e.RetryAfter)
				}
			})
			if n := len(s.Asked()); n != 2 {
				t.Errorf("%d requests for two streams, want 2", n)
			}
		})
	}
}

// What goes wrong after the answer has begun.
func TestBroken(t *testing.T) {
	for name, p := range protocols() {
		t.Run(name, p.Faults)
	}
	stream := func(events ...string) http.HandlerFunc { return wiretest.SSE(begun + sse(events...)) }
	tests := []struct {
		name   string
		answer http.HandlerFunc
		told   string
		kind   llm.ErrorKind
		text   string
	}{
		{"only DONE", wiretest.SSE(sse("[DONE]")), "", llm.Cut, "ended before"},
		{"malformed", stream(`{"choices":[`), "a", llm.Malformed, `"{\"choices\":["`},
		{"a web page", wiretest.Status(200, "<html>", "Content-Type", "text/html; charset=utf-8"), "", llm.Malformed, "web page"},
		{"no stream", wiretest.Status(200, `{"choices":[]}`), "", llm.Malformed, "not a stream"},
		{"an error with status 200", wiretest.Status(200, `{"error":{"message":"slow down","code":429}}`), "", llm.RateLimit, "slow down"},
		{"an error in place of a stream", wiretest.SSE(`{"error":{"message":"model not loaded","code":500}}`), "", llm.Overloaded, "model not loaded"},
		{"an error within", stream(`{"error":{"message":"out of memory","type":"server_error","code":500}}`), "a", llm.Overloaded, "out of memory"},
		{"a negative count", stream(`{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":-1}}`, `[DONE]`, // F12
			`{"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":-1}}}`), "a", llm.Malformed, "invalid count of tokens -1"},
		{"a negative count of what was cached", stream(`{"choices":[],"usage":{"prompt_tokens_details":{"cached_tokens":-7}}}`, `[DONE]`,
			`{"type":"response.completed","response":{"usage":{"input_tokens_details":{"cached_tokens":-7}}}}`), "a", llm.Malformed, "invalid count of tokens -7"},
		{"an error of words", stream(`{"error":"out of memory"}`), "a", llm.Overloaded, "out of memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, &Options{BaseURL: wiretest.Serve(t, tt.answer).URL}, func(t *testing.T, m llm.Model) {
				got, err := wiretest.Collect(t, m, hello())
				if kindOf(err) != string(tt.kind) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %s: %v", kindOf(err), err)
				}
				if got.Text() != tt.told || len(got.Message.Parts) > 1 {
					t.Errorf("before the error came %+v", got.Message.Parts)
				}
			})
		})
	}
}

func TestResponsesFailures(t *testing.T) {
	tests := []struct {
		name, event string
		kind        llm.ErrorKind
		text        string
	}{
		{"failed", `{"type":"response.failed","response":{"error":{"code":"server_error","message":"we fell over"}}}`, llm.Overloaded, "we fell over"},
		{"failed by rate", `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow"}}}`, llm.RateLimit, "slow"},
		{"failed by the prompt", `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"not this"}}}`, llm.BadRequest, "not this"},
		{"failed by length", `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"long"}}}`, llm.TooLong, "long"},
		{"failed without a word", `{"type":"response.failed"}`, llm.Overloaded, "stopped"},
		{"error", `{"type":"error","code":"server_error","message":"we fell over","param":null,"sequence_number":3}`, llm.Overloaded, "we fell over"},
		{"error in an error", `{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"long"}}`, llm.TooLong, "long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.event)
			_, err := lines(t.Context(), New(&Options{BaseURL: s.URL}), hello())
			if kindOf(err) != string(tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %s: %v", kindOf(err), err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	for name, p := range protocols() {
		t.Run(name, p.Unreachable)
	}
}

// Cancelling and breaking off end the request on the server's side too.
func TestCancelAndBreak(t *testing.T) {
	for name, p := range protocols() {
		t.Run("cancel/"+name, p.Cancel)
		t.Run("break/"+name, p.Break)
	}
}

func TestKeyIsNotInErrors(t *testing.T) {
	for name, p := range protocols() {
		t.Run(name, p.HidesKey)
	}
}
