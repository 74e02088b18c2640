package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
)

// server answers every request with the same text and keeps what it was sent.
type server struct {
	*httptest.Server
	bodies  []string
	headers []http.Header
	paths   []string
}

func serve(t testing.TB, answer http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.bodies, s.headers, s.paths = append(s.bodies, string(body)), append(s.headers, r.Header), append(s.paths, r.URL.String())
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func sse(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, text)
	}
}

// events writes each JSON text as an event of its type.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(d), &e) // broken ones are sent as they are
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Type, d)
	}
	return b.String()
}

const (
	start   = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}`
	ping    = `{"type":"ping"}`
	endTurn = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}`
	stop    = `{"type":"message_stop"}`
)

func text(index int, words ...string) string {
	list := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, index)}
	for _, w := range words {
		list = append(list, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%q}}`, index, w))
	}
	return events(append(list, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))...)
}

func toolUse(index int, id, name string, parts ...string) string {
	list := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, index, id, name)}
	for _, p := range parts {
		list = append(list, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, index, p))
	}
	return events(append(list, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))...)
}

func finish(reason string) string {
	return events(fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":42}}`, reason), stop)
}

func model(t testing.TB, base string, idle time.Duration) llm.Model {
	t.Helper()
	m, err := anthropic.New(&anthropic.Options{Key: "key-1", BaseURL: base, Model: "claude-test", Idle: idle})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "hello"}}}}}
}

func collect(t *testing.T, m llm.Model, r *llm.Request) (llm.Answer, error) {
	t.Helper()
	return llm.Collect(t.Context(), m, r, nil)
}

// issue 4.1: text, parallel calls, reasoning, usage and the stop arrive in their order.
func TestAnswer(t *testing.T) {
	s := serve(t, sse(events(start, ping)+
		events(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"well"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":", yes"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}`,
			`{"type":"content_block_stop","index":1}`)+
		text(2, "I ", "look.")+
		toolUse(3, "toolu_a", "read_file", `{"path": "a`, `.txt","id":12345678901234567890}`)+
		toolUse(4, "toolu_b", "glob")+
		toolUse(5, "toolu_c", "grep", `{"cut":`)+
		finish("tool_use")))
	got, err := collect(t, model(t, s.URL, 0), hello())
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Answer{
		Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"thinking","thinking":"well, yes","signature":"c2ln"}`)}},
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"redacted_thinking","data":"b3BhcXVl"}`)}},
			{Text: "I look."},
			{Call: &llm.Call{ID: "toolu_a", Name: "read_file", Args: json.RawMessage(`{"path": "a.txt","id":12345678901234567890}`)}},
			{Call: &llm.Call{ID: "toolu_b", Name: "glob", Args: json.RawMessage(`{}`)}},
			{Call: &llm.Call{ID: "toolu_c", Name: "grep", Args: json.RawMessage(`{}`), Raw: `{"cut":`}},
		}},
		Usage: llm.Usage{Input: 330, CacheRead: 300, CacheWrite: 20, Output: 42},
		Stop:  llm.StopCalls,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", dump(got), dump(want))
	}
	if len(s.paths) != 1 || s.paths[0] != "/v1/messages" || s.headers[0].Get("X-Api-Key") != "key-1" {
		t.Errorf("got %v with key %q, want /v1/messages with key-1", s.paths, s.headers[0].Get("X-Api-Key"))
	}
}

func dump(v any) string {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestStopReasons(t *testing.T) {
	tests := []struct {
		reason string
		want   llm.StopReason
	}{
		{"end_turn", llm.StopEnd}, {"stop_sequence", llm.StopEnd}, {"max_tokens", llm.StopLength}, {"refusal", llm.StopRefused},
		{"model_context_window_exceeded", llm.StopLength}, {"something new", llm.StopEnd},
	}
	for _, tt := range tests {
		t.Run(tt.reason, func(t *testing.T) {
			s := serve(t, sse(events(start)+text(0, "x")+finish(tt.reason)))
			got, err := collect(t, model(t, s.URL, 0), hello())
			if got.Stop != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got.Stop, err, tt.want)
			}
		})
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func problem(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"r"}`, kind, message)
}

// issue 4.1: every fault has its kind and says what the provider said; nothing is asked twice.
func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		h    http.HandlerFunc
		want llm.Error
	}{
		{"bad key", status(401, problem("authentication_error", "invalid x-api-key")),
			llm.Error{Kind: llm.BadKey, Status: 401, Message: "invalid x-api-key"}},
		{"no model", status(404, problem("not_found_error", "model: claude-test")),
			llm.Error{Kind: llm.NoModel, Status: 404, Message: "model: claude-test"}},
		{"bad request", status(400, problem("invalid_request_error", "tools.0: wrong")),
			llm.Error{Kind: llm.BadRequest, Status: 400, Message: "tools.0: wrong"}},
		{"too long", status(400, problem("invalid_request_error", "prompt is too long: 200082 tokens > 200000 maximum")),
			llm.Error{Kind: llm.TooLong, Status: 400, Message: "prompt is too long: 200082 tokens > 200000 maximum"}},
		{"too large", status(413, problem("request_too_large", "too large")),
			llm.Error{Kind: llm.TooLong, Status: 413, Message: "too large"}},
		{"rate limit", status(429, problem("rate_limit_error", "slow down"), "Retry-After", "17"),
			llm.Error{Kind: llm.RateLimit, Status: 429, Message: "slow down", RetryAfter: 17 * time.Second}},
		{"overloaded", status(529, problem("overloaded_error", "Overloaded"), "X-Should-Retry", "true"),
			llm.Error{Kind: llm.Overloaded, Status: 529, Message: "Overloaded"}},
		{"a gateway's page", status(502, "<html>no</html>"),
			llm.Error{Kind: llm.Overloaded, Status: 502, Message: "Bad Gateway"}},
		{"error within the stream", sse(events(start) + text(0, "a") + events(problem("overloaded_error", "Overloaded"))),
			llm.Error{Kind: llm.Overloaded, Message: "Overloaded"}},
		{"limit within the stream", sse(events(start, problem("rate_limit_error", "slow down"))),
			llm.Error{Kind: llm.RateLimit, Message: "slow down"}},
		{"cut before the end", sse(events(start) + text(0, "half a")),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its message did"}},
		{"nothing", sse(""),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its message did"}},
		{"broken connection", func(w http.ResponseWriter, r *http.Request) { sse(events(start))(w, r); panic(http.ErrAbortHandler) },
			llm.Error{Kind: llm.Network, Message: "*"}},
		{"no JSON", sse("event: message_start\ndata: {\"type\":\n\n"),
			llm.Error{Kind: llm.Malformed, Message: "an event of the stream cannot be read: unexpected end of JSON input"}},
		{"silence", hang,
			llm.Error{Kind: llm.TimedOut, Message: "nothing came for 100ms"}},
		{"silence within", func(w http.ResponseWriter, r *http.Request) {
			sse(events(start))(w, r)
			w.(http.Flusher).Flush()
			hang(w, r)
		}, llm.Error{Kind: llm.TimedOut, Message: "nothing came for 100ms"}},
		{"endless line", func(w http.ResponseWriter, r *http.Request) {
			sse("event: message_start\ndata: "+strings.Repeat("x", 5<<20))(w, r)
		}, llm.Error{Kind: llm.Malformed, Message: "a line of the answer exceeds 4194304 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.h)
			var idle time.Duration
			if tt.want.Kind == llm.TimedOut {
				idle = 100 * time.Millisecond
			}
			_, err := collect(t, model(t, s.URL, idle), hello())
			var got *llm.Error
			if !errors.As(err, &got) {
				t.Fatalf("got %v, want an *llm.Error", err)
			}
			same := *got
			same.Err, tt.want.Provider = nil, "anthropic"
			if tt.want.Message == "*" {
				same.Message = "*"
			}
			if same != tt.want {
				t.Errorf("got %+v, want %+v", same, tt.want)
			}
			s.Close() // waits for its handlers
			if len(s.bodies) != 1 {
				t.Errorf("got %d requests, want 1", len(s.bodies))
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	s := serve(t, hang)
	s.Close()
	_, err := collect(t, model(t, s.URL, 0), hello())
	var got *llm.Error
	if !errors.As(err, &got) || got.Kind != llm.Network {
		t.Errorf("got %v, want kind network", err)
	}
}

// issue 4.1: cancelling ends the request and gives the context's own error.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sse(events(start)+text(0, "a"))(w, r)
		w.(http.Flusher).Flush()
		hang(w, r)
		close(gone)
	})
	var last error
	for e, err := range model(t, s.URL, 0).Stream(ctx, hello()) {
		if e.Text != "" {
			cancel()
		}
		last = err
	}
	if last != context.Canceled {
		t.Errorf("got %v, want context.Canceled", last)
	}
	<-gone
	for _, err := range model(t, s.URL, 0).Stream(ctx, hello()) {
		if err != context.Canceled {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
}

// Breaking off the loop ends the request.
func TestBreak(t *testing.T) {
	gone := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		sse(events(start)+text(0, "a"))(w, r)
		w.(http.Flusher).Flush()
		hang(w, r)
		close(gone)
	})
	for e, err := range model(t, s.URL, 0).Stream(t.Context(), hello()) {
		if e.Text != "" || err != nil {
			break
		}
	}
	<-gone
}
