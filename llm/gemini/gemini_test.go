package gemini_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/gemini"
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

// chunks writes each JSON text as an event, as the API does.
func chunks(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		fmt.Fprintf(&b, "data: %s\r\n\r\n", d)
	}
	return b.String()
}

// say is a chunk with these parts.
func say(parts ...string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]},"index":0}],"usageMetadata":{"promptTokenCount":5},"modelVersion":"v"}`
}

// end is the last chunk.
func end(reason string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":%q,"safetyRatings":[{"category":"x"}]}],"usageMetadata":{"promptTokenCount":330,"cachedContentTokenCount":300,"candidatesTokenCount":30,"thoughtsTokenCount":12,"totalTokenCount":372}}`, reason)
}

func model(t testing.TB, base string, idle time.Duration) llm.Model {
	t.Helper()
	m, err := gemini.New(&gemini.Options{Key: "key-1", BaseURL: base, Model: "gemini-test", Idle: idle})
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

// issue 4.1: text, parallel calls, signatures, usage and the stop arrive in their order.
func TestAnswer(t *testing.T) {
	s := serve(t, sse(chunks(
		say(`{"text":"reasoning","thought":true}`),
		say(`{"text":"more","thought":true,"thoughtSignature":"dGg="}`),
		say(`{"text":"I "}`),
		say(`{"text":"look."}`, `{"text":" Now.","thoughtSignature":"dHg="}`),
		say(`{"functionCall":{"name":"read_file","args":{"path": "a.txt","id":12345678901234567890}},"thoughtSignature":"Y2FsbA=="}`,
			`{"functionCall":{"name":"glob"}}`),
		say(`{"functionCall":{"id":"own","name":"grep","args":"no object"}}`, `{"functionCall":{"id":"own","name":"grep","args":null}}`),
		say(`{"text":"","thoughtSignature":"ZW5k"}`),
		end("STOP"))))
	got, err := collect(t, model(t, s.URL, 0), hello())
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Answer{
		Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			state(`{"thoughtSignature":"dGg=","text":"more","thought":true}`),
			{Text: "I look. Now."},
			state(`{"thoughtSignature":"dHg=","text":" Now."}`),
			{Call: &llm.Call{ID: "gemini_call_1", Name: "read_file", Args: json.RawMessage(`{"path":"a.txt","id":12345678901234567890}`)}},
			state(`{"thoughtSignature":"Y2FsbA==","call":true}`),
			{Call: &llm.Call{ID: "gemini_call_2", Name: "glob", Args: json.RawMessage(`{}`)}},
			{Call: &llm.Call{ID: "own", Name: "grep", Args: json.RawMessage(`{}`), Raw: `"no object"`}},
			{Call: &llm.Call{ID: "gemini_call_3", Name: "grep", Args: json.RawMessage(`{}`)}},
			state(`{"thoughtSignature":"ZW5k"}`),
		}},
		Usage: llm.Usage{Input: 330, CacheRead: 300, Output: 42},
		Stop:  llm.StopCalls,
	}
	if dump(got) != dump(want) {
		t.Errorf("got %s\nwant %s", dump(got), dump(want))
	}
	if want := "/v1beta/models/gemini-test:streamGenerateContent?alt=sse"; len(s.paths) != 1 || s.paths[0] != want || s.headers[0].Get("X-Goog-Api-Key") != "key-1" {
		t.Errorf("got %v with key %q, want %s with key-1", s.paths, s.headers[0].Get("X-Goog-Api-Key"), want)
	}
}

func state(data string) llm.Part {
	return llm.Part{State: &llm.State{Owner: "gemini", Data: json.RawMessage(data)}}
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
		name, stream string
		want         llm.StopReason
	}{
		{"stop", chunks(say(`{"text":"x"}`), end("STOP")), llm.StopEnd},
		{"stop in every chunk", chunks(end("STOP"), end("STOP")), llm.StopEnd},
		{"length", chunks(say(`{"text":"x"}`), end("MAX_TOKENS")), llm.StopLength},
		{"safety", chunks(end("SAFETY")), llm.StopRefused},
		{"blocked prompt", chunks(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":5}}`), llm.StopRefused},
		{"something new", chunks(end("SOMETHING_NEW")), llm.StopEnd},
		{"without the last line break", strings.TrimSpace(chunks(end("STOP"))), llm.StopEnd},
		{"comments and other fields", ": ping\n\nevent: x\nid: 1\ndata: {\ndata: \"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n", llm.StopEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, sse(tt.stream))
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

func problem(code int, message, details string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":"S","details":[%s]}}`, code, message, details)
}

// issue 4.1: every fault has its kind and says what the provider said; nothing is asked twice.
func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		h    http.HandlerFunc
		want llm.Error
	}{
		{"bad key", status(400, problem(400, "API key not valid.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`)),
			llm.Error{Kind: llm.BadKey, Status: 400, Message: "API key not valid."}},
		{"no right", status(403, problem(403, "denied", "")),
			llm.Error{Kind: llm.BadKey, Status: 403, Message: "denied"}},
		{"no model", status(404, problem(404, "models/x is not found", "")),
			llm.Error{Kind: llm.NoModel, Status: 404, Message: "models/x is not found"}},
		{"bad request", status(400, problem(400, "wrong schema", "")),
			llm.Error{Kind: llm.BadRequest, Status: 400, Message: "wrong schema"}},
		{"too long", status(400, problem(400, "The input token count (2) exceeds the maximum number of tokens allowed (1).", "")),
			llm.Error{Kind: llm.TooLong, Status: 400, Message: "The input token count (2) exceeds the maximum number of tokens allowed (1)."}},
		{"rate limit", status(429, problem(429, "quota", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}`)),
			llm.Error{Kind: llm.RateLimit, Status: 429, Message: "quota", RetryAfter: 34500 * time.Millisecond}},
		{"rate limit with a header", status(429, problem(429, "quota", `{"retryDelay":"34s"}`), "Retry-After", "17"),
			llm.Error{Kind: llm.RateLimit, Status: 429, Message: "quota", RetryAfter: 17 * time.Second}},
		{"a delay that is none", status(429, problem(429, "quota", `{"retryDelay":"soon"}`)),
			llm.Error{Kind: llm.RateLimit, Status: 429, Message: "quota"}},
		{"overloaded", status(503, "["+problem(503, "The model is overloaded.", "")+"]"),
			llm.Error{Kind: llm.Overloaded, Status: 503, Message: "The model is overloaded."}},
		{"a gateway's page", status(502, "<html>no</html>"),
			llm.Error{Kind: llm.Overloaded, Status: 502, Message: "Bad Gateway"}},
		{"error within the stream", sse(chunks(say(`{"text":"a"}`), problem(503, "overloaded", ""))),
			llm.Error{Kind: llm.Overloaded, Status: 503, Message: "overloaded"}},
		{"cut before the end", sse(chunks(say(`{"text":"half a"}`))),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its answer did"}},
		{"cut within an event", sse(chunks(say(`{"text":"half a"}`)) + `data: {"candidates":[{"con`),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its answer did"}},
		{"cut after a stop", func(w http.ResponseWriter, r *http.Request) {
			sse(chunks(end("STOP")))(w, r)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, llm.Error{Kind: llm.Cut, Message: "the answer broke off: unexpected EOF"}},
		{"nothing", sse(""),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its answer did"}},
		{"a call that is none", sse(chunks(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`)),
			llm.Error{Kind: llm.Malformed, Message: "the model did not get its call of a tool right (MALFORMED_FUNCTION_CALL)"}},
		{"no JSON", sse(chunks(`{"candidates":`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
		{"other JSON", sse(chunks(`{"candidates":"x"}`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
		{"silence", hang,
			llm.Error{Kind: llm.TimedOut, Message: "nothing came for 100ms"}},
		{"silence within", func(w http.ResponseWriter, r *http.Request) {
			sse(chunks(say()))(w, r)
			w.(http.Flusher).Flush()
			hang(w, r)
		}, llm.Error{Kind: llm.TimedOut, Message: "nothing came for 100ms"}},
		{"endless line", func(w http.ResponseWriter, r *http.Request) {
			sse("data: "+strings.Repeat("x", 5<<20))(w, r)
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
			same.Err, tt.want.Provider = nil, "gemini"
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
		sse(chunks(say(`{"text":"a"}`)))(w, r)
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
		sse(chunks(say(`{"text":"a"}`)))(w, r)
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

// The SDK prints what goes wrong while it reads; nothing goes wrong that it would see.
func TestFaultsArePrintedByNobody(t *testing.T) {
	var printed strings.Builder
	log.SetOutput(&printed)
	defer log.SetOutput(os.Stderr)
	for _, h := range []http.HandlerFunc{
		func(w http.ResponseWriter, r *http.Request) {
			sse(chunks(say(`{"text":"a"}`)))(w, r)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		sse("data: " + strings.Repeat("x", 5<<20)),
	} {
		s := serve(t, h)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		if _, err := collect(t, model(t, s.URL, 0), hello()); err == nil {
			t.Error("got no error")
		}
	}
	if printed.String() != "" {
		t.Errorf("got %q, want nothing", printed.String())
	}
}
