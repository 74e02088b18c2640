package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
)

var provider = &wiretest.Provider{
	Name: "anthropic",
	New: func(o *wiretest.Options) (llm.Model, error) {
		return anthropic.New(&anthropic.Options{Key: o.Key, BaseURL: o.BaseURL, Model: o.Model, HTTP: o.HTTP, Idle: o.Idle})
	},
	Begun: events(start, ping) + text(0, "a"),
	Whole: events(start) + text(0, "x") + finish("end_turn"),
	Cut:   "the stream ended before its message did",

	KeyHeader: "X-Api-Key",
	Vendor:    "https://api.anthropic.com/v1/messages",

	Messages: "messages",
	Fixed:    []string{"system", "tools", "model"},
	Mark:     `"cache_control":{"type":"ephemeral"},`,
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

// issue 4.1: text, parallel calls, reasoning, usage and the stop arrive in their order.
func TestAnswer(t *testing.T) {
	stream := events(start, ping) +
		events(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"well"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":", yes"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"b3BhcXVl"}}`,
			`{"type":"content_block_stop","index":1}`) +
		text(2, "I ", "look.") +
		toolUse(3, "toolu_a", "read_file", `{"path": "a`, `.txt","id":12345678901234567890}`) +
		toolUse(4, "toolu_b", "glob") +
		toolUse(5, "toolu_c", "grep", `{"cut":`) +
		finish("tool_use")
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
	provider.Answer(t, stream, want)
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
			provider.Stops(t, events(start)+text(0, "x")+finish(tt.reason), tt.want)
		})
	}
}

func problem(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"r"}`, kind, message)
}

// issue 4.1: every fault has its kind and says what the provider said; nothing is asked twice.
func TestFaults(t *testing.T) {
	provider.Faults(t)
	status, sse := wiretest.Status, wiretest.SSE
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   llm.Error
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
		{"error within the stream", sse(provider.Begun + events(problem("overloaded_error", "Overloaded"))),
			llm.Error{Kind: llm.Overloaded, Message: "Overloaded"}},
		{"limit within the stream", sse(events(start, problem("rate_limit_error", "slow down"))),
			llm.Error{Kind: llm.RateLimit, Message: "slow down"}},
		{"a negative count", sse(events(strings.Replace(start, `"input_tokens":10`, `"input_tokens":-10`, 1))), // F12
			llm.Error{Kind: llm.Malformed, Message: "invalid count of tokens -10"}},
		{"a negative count at the end", sse(events(start, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-42}}`, stop)),
			llm.Error{Kind: llm.Malformed, Message: "invalid count of tokens -42"}},
		{"an event of another shape", sse(provider.Begun + events(`{"type":"content_block_delta","index":0,"delta":7}`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
		{"error without a message", sse(events(start, `{"type":"error","error":7}`)),
			llm.Error{Kind: llm.Overloaded, Message: "the provider reported an error without a message"}},
		{"no JSON", sse("event: message_start\ndata: {\"type\":\n\n"),
			llm.Error{Kind: llm.Malformed, Message: "an event of the stream cannot be read: unexpected end of JSON input"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { provider.Fault(t, tt.answer, tt.want) })
	}
}

func TestUnreachable(t *testing.T) { provider.Unreachable(t) }

// issue 4.1: cancelling ends the request and gives the context's own error.
func TestCancel(t *testing.T) { provider.Cancel(t) }

func TestBreak(t *testing.T) { provider.Break(t) }

func TestKeyIsNotInErrors(t *testing.T) { provider.HidesKey(t) }

// issue 26.5: a model's own limit of answers stands for a request without one.
func TestAnswerLimit(t *testing.T) {
	own := *provider
	own.New = func(o *wiretest.Options) (llm.Model, error) {
		return anthropic.New(&anthropic.Options{Key: o.Key, BaseURL: o.BaseURL, Model: o.Model, HTTP: o.HTTP, Answer: 64000})
	}
	if got := own.Fields(t, wiretest.Hello()); string(got["max_tokens"]) != "64000" {
		t.Errorf("got %s", got["max_tokens"])
	}
}

// issue 26.5: what the model thinks arrives in pieces, and as a state when it is whole.
func TestThoughts(t *testing.T) {
	s := wiretest.Serve(t, wiretest.SSE(events(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"we","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"ll"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		`{"type":"content_block_stop","index":0}`)+text(1, "x")+finish("end_turn")))
	m, err := provider.New(&wiretest.Options{BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	a, err := llm.Collect(t.Context(), m, wiretest.Hello(), func(e llm.Event) { got += e.Thought + "|" })
	if err != nil || !strings.HasPrefix(got, "|we|ll|") || a.Text() != "x" || a.Message.Parts[0].State == nil {
		t.Errorf("got %q, %+v, %v", got, a, err)
	}
}
