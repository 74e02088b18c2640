package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/llm"
)

// server answers requests with scripted replies, one after another, and keeps what it was asked.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	asked   []asked
}

type reply struct {
	status int // 0 means 200
	header http.Header
	body   string
	during func(w http.ResponseWriter, r *http.Request) // after the body
}

type asked struct {
	url    string
	header http.Header
	body   string
}

func serve(t *testing.T, replies ...reply) *server {
	t.Helper()
	s := &server{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, asked{r.URL.String(), r.Header, string(body)})
	a := s.replies[min(n, len(s.replies)-1)]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range a.header {
		w.Header()[k] = v
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
	if a.during != nil {
		w.(http.Flusher).Flush()
		a.during(w, r)
	}
}

// last returns the latest request.
func (s *server) last() asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// sse makes a stream of data lines.
func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// lines returns the events of a stream as JSON, and its error.
func lines(ctx context.Context, m llm.Model, r *llm.Request) (string, error) {
	var out []string
	for e, err := range m.Stream(ctx, r) {
		if err != nil {
			return strings.Join(out, "\n"), err
		}
		b, err := json.Marshal(e)
		if err != nil {
			return "", err
		}
		out = append(out, string(b))
	}
	return strings.Join(out, "\n"), nil
}

func hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "hello"}}}}}
}

// talk is a conversation with everything in it, up to the results of its first calls.
func talk() *llm.Request {
	return &llm.Request{
		System:    "Be <brief> & kind.",
		MaxTokens: 100,
		CacheKey:  "conversation-1",
		Tools: []llm.Tool{
			{Name: "look", Description: "Looks.", Input: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"]}`)},
			{Name: "wait"},
		},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{{Text: "the turn"}, {Text: "the prompt"}}},
			{Role: llm.Assistant, Parts: []llm.Part{
				{State: &llm.State{Owner: "openai", Data: json.RawMessage(`{"encrypted_content":"xyz","id":"rs_1","summary":[],"type":"reasoning"}`)}},
				{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"signature":"no"}`)}},
				{Text: "I look."},
				{Call: &llm.Call{ID: "c1", Name: "look", Args: json.RawMessage(`{"z":"<1>"}`)}},
				{Call: &llm.Call{ID: "c2", Name: "wait", Args: json.RawMessage(`{}`), Raw: "nonsense"}},
			}},
			{Role: llm.User, Parts: []llm.Part{
				{Text: "by the way"},
				{Result: &llm.Result{ID: "c1", Name: "look", Text: `{"success":true}`}},
				{Result: &llm.Result{ID: "c2", Name: "wait", Text: "no", Failed: true}},
			}},
		},
	}
}

// kindOf returns the kind of an *llm.Error, or the error's text.
func kindOf(err error) string {
	e, ok := err.(*llm.Error)
	if !ok {
		return fmt.Sprint(err)
	}
	return string(e.Kind)
}
