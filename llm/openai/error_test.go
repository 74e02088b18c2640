package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// answer is a client that gets body from whomever it asks.
func answer(body []byte) *http.Client {
	return &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
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
	tests := []struct {
		name string
		r    reply
		kind llm.ErrorKind
		text string
	}{
		{"bad key", reply{status: 401, body: `{"error":{"message":"Incorrect API key: sk-secret-key","type":"invalid_request_error","code":"invalid_api_key"}}`},
			llm.BadKey, "openai: Incorrect API key: [the key] (HTTP 401)"},
		{"no right", reply{status: 403, body: `{"error":{"message":"not here"}}`}, llm.BadKey, "openai: not here (HTTP 403)"},
		{"no model", reply{status: 404, body: `{"error":{"message":"no model x","code":"model_not_found"}}`}, llm.NoModel, "openai: no model x (HTTP 404)"},
		{"no model at Ollama", reply{status: 404, body: `{"error":"model \"x\" not found, try pulling it first"}`}, llm.NoModel, `openai: model "x" not found, try pulling it first (HTTP 404)`},
		{"no model in a 400", reply{status: 400, body: `{"error":{"message":"no model x","code":"model_not_found"}}`}, llm.NoModel, "openai: no model x (HTTP 400)"},
		{"no such address", reply{status: 404, body: "404 page not found"}, llm.BadRequest, "openai: the server knows no such address; a base URL mostly ends in /v1 (HTTP 404)"},
		{"plain text", reply{status: 500, body: "out of memory"}, llm.Overloaded, "openai: out of memory (HTTP 500)"},
		{"too long", reply{status: 400, body: `{"error":{"message":"too many","type":"invalid_request_error","code":"context_length_exceeded"}}`}, llm.TooLong, "openai: too many (HTTP 400)"},
		{"too long at vLLM", reply{status: 400, body: `{"object":"error","message":"This model's maximum context length is 10 tokens","type":"BadRequestError","code":400}`},
			llm.TooLong, "openai: This model's maximum context length is 10 tokens (HTTP 400)"},
		{"too long at llama.cpp", reply{status: 400, body: `{"error":{"code":400,"message":"the request exceeds it","type":"exceed_context_size_error"}}`}, llm.TooLong, "openai: the request exceeds it (HTTP 400)"},
		{"quota", reply{status: 429, body: `{"error":{"message":"check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`}, llm.BadRequest, "openai: check your plan (HTTP 429)"},
		{"rate", reply{status: 429, header: http.Header{"Retry-After": {"7"}}, body: `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`}, llm.RateLimit, "openai: slow (HTTP 429)"},
		{"a bad moment", reply{status: 503, body: "<html>"}, llm.Overloaded, "openai: Service Unavailable (HTTP 503)"},
		{"bad request", reply{status: 400, body: `{"error":{"message":"no such field","code":null}}`}, llm.BadRequest, "openai: no such field (HTTP 400)"},
		{"a list", reply{status: 400, body: `[{"error":{"message":"in a list","code":400}}]`}, llm.BadRequest, "openai: in a list (HTTP 400)"},
		{"detail", reply{status: 422, body: `{"detail":[{"msg":"field required"}]}`}, llm.BadRequest, `openai: [{"msg":"field required"}] (HTTP 422)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.r)
			both(t, &Options{BaseURL: s.URL, Key: "sk-secret-key"}, func(t *testing.T, m llm.Model) {
				_, err := lines(t.Context(), m, hello())
				if kindOf(err) != string(tt.kind) || err.Error() != tt.text {
					t.Errorf("got  %s: %v\nwant %s: %s", kindOf(err), err, tt.kind, tt.text)
				}
				if e, ok := err.(*llm.Error); ok && tt.kind == llm.RateLimit && e.RetryAfter != 7*time.Second {
					t.Errorf("retry after %s", e.RetryAfter)
				}
			})
			if n := len(s.asked); n != 2 {
				t.Errorf("%d requests for two streams: the SDK must not retry", n)
			}
		})
	}
}

// What goes wrong after the answer has begun.
func TestBroken(t *testing.T) {
	text := sse(chatChunk(`{"content":"a"}`), `{"type":"response.output_text.delta","delta":"a"}`)
	tests := []struct {
		name string
		r    reply
		kind llm.ErrorKind
		text string
	}{
		{"end in the middle", reply{body: text}, llm.Cut, "ended before"},
		{"nothing", reply{}, llm.Cut, "ended before"},
		{"only DONE", reply{body: sse("[DONE]")}, llm.Cut, "ended before"},
		{"connection lost", reply{body: text, during: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}, llm.Cut, "broke off"},
		{"malformed", reply{body: text + sse(`{"choices":[`)}, llm.Malformed, `"{\"choices\":["`},
		{"a web page", reply{header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, body: "<html>"}, llm.Malformed, "web page"},
		{"no stream", reply{header: http.Header{"Content-Type": {"application/json"}}, body: `{"choices":[]}`}, llm.Malformed, "not a stream"},
		{"an error with status 200", reply{header: http.Header{"Content-Type": {"application/json"}}, body: `{"error":{"message":"slow down","code":429}}`}, llm.RateLimit, "slow down"},
		{"an error within", reply{body: text + sse(`{"error":{"message":"out of memory","type":"server_error","code":500}}`)}, llm.Overloaded, "out of memory"},
		{"an error of words", reply{body: text + sse(`{"error":"out of memory"}`)}, llm.Overloaded, "out of memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			both(t, &Options{BaseURL: serve(t, tt.r).URL}, func(t *testing.T, m llm.Model) {
				got, err := lines(t.Context(), m, hello())
				if kindOf(err) != string(tt.kind) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got %s: %v", kindOf(err), err)
				}
				if strings.Contains(tt.r.body, `"a"`) && got != `{"text":"a"}` {
					t.Errorf("before the error came %s", got)
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
			s := serve(t, reply{body: sse(tt.event)})
			_, err := lines(t.Context(), New(&Options{BaseURL: s.URL}), hello())
			if kindOf(err) != string(tt.kind) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %s: %v", kindOf(err), err)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	quiet := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	s := serve(t, reply{body: sse(chatChunk(`{"content":"a"}`)), during: quiet})
	both(t, &Options{BaseURL: s.URL, Idle: 30 * time.Millisecond}, func(t *testing.T, m llm.Model) {
		if _, err := lines(t.Context(), m, hello()); kindOf(err) != string(llm.TimedOut) {
			t.Errorf("got %s: %v", kindOf(err), err)
		}
	})
}

func TestUnreachable(t *testing.T) {
	s := serve(t, reply{})
	s.Close()
	both(t, &Options{BaseURL: s.URL}, func(t *testing.T, m llm.Model) {
		if _, err := lines(t.Context(), m, hello()); kindOf(err) != string(llm.Network) {
			t.Errorf("got %s: %v", kindOf(err), err)
		}
	})
}

// Cancelling and breaking off end the request on the server's side too.
func TestCancelAndBreak(t *testing.T) {
	for name, stop := range map[string]func(cancel func()) bool{
		"cancel": func(cancel func()) bool { cancel(); return true },
		"break":  func(func()) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan struct{}, 2)
			s := serve(t, reply{
				body:   sse(chatChunk(`{"content":"a"}`), `{"type":"response.output_text.delta","delta":"a"}`),
				during: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); gone <- struct{}{} },
			})
			both(t, &Options{BaseURL: s.URL}, func(t *testing.T, m llm.Model) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for _, err := range m.Stream(ctx, hello()) {
					if err != nil {
						if err != context.Canceled {
							t.Errorf("got %v", err)
						}
						break
					}
					if !stop(cancel) {
						break
					}
				}
				<-gone
			})
		})
	}
}
