package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// protocols are both, as every provider is tested.
func protocols() map[string]*wiretest.Provider {
	both := map[string]func(*Options) llm.Model{"responses": New, "chat": NewChat}
	out := map[string]*wiretest.Provider{}
	for name, build := range both {
		out[name] = &wiretest.Provider{
			Name:  provider,
			New:   func(o *wiretest.Options) (llm.Model, error) { return build((*Options)(o)), nil },
			Begun: begun,
			Cut:   "the answer ended before it was complete",
		}
	}
	return out
}

// begun is a stream of either protocol that has told "a".
var begun = sse(chatChunk(`{"content":"a"}`), `{"type":"response.output_text.delta","delta":"a"}`)

// serve gives every request the same stream.
func serve(t *testing.T, events ...string) *wiretest.Server {
	t.Helper()
	return wiretest.Serve(t, wiretest.SSE(sse(events...)))
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

func hello() *llm.Request { return wiretest.Hello() }

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
