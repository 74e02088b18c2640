package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/gemini"
)

var provider = &wiretest.Provider{
	Name: "gemini",
	New: func(o *wiretest.Options) (llm.Model, error) {
		return gemini.New((*gemini.Options)(o))
	},
	Begun: chunks(say(`{"text":"a"}`)),
	Whole: chunks(end("STOP")),
	Cut:   "the stream ended before its answer did",

	KeyHeader: "X-Goog-Api-Key",
	Vendor:    "https://generativelanguage.googleapis.com/v1beta/models/model-1:streamGenerateContent?alt=sse",

	Messages: "contents",
	Fixed:    []string{"systemInstruction", "tools", "generationConfig"},
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

// issue 4.1: text, parallel calls, signatures, usage and the stop arrive in their order.
func TestAnswer(t *testing.T) {
	stream := chunks(
		say(`{"text":"reasoning","thought":true}`),
		say(`{"text":"more","thought":true,"thoughtSignature":"dGg="}`),
		say(`{"text":"I "}`),
		say(`{"text":"look."}`, `{"text":" Now.","thoughtSignature":"dHg="}`),
		say(`{"functionCall":{"name":"read_file","args":{"path": "a.txt","id":12345678901234567890}},"thoughtSignature":"Y2FsbA=="}`,
			`{"functionCall":{"name":"glob"}}`),
		say(`{"functionCall":{"id":"own","name":"grep","args":"no object"}}`, `{"functionCall":{"id":"own","name":"grep","args":null}}`),
		say(`{"text":"","thoughtSignature":"ZW5k"}`),
		end("STOP"))
	want := llm.Answer{
		Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			state(`{"thoughtSignature":"dGg=","text":"more","thought":true}`),
			{Text: "I look. Now."},
			state(`{"thoughtSignature":"dHg=","text":" Now."}`),
			{Call: &llm.Call{ID: "gemini_call_1", Name: "read_file", Args: json.RawMessage(`{"path": "a.txt","id":12345678901234567890}`)}},
			state(`{"thoughtSignature":"Y2FsbA==","call":true}`),
			{Call: &llm.Call{ID: "gemini_call_2", Name: "glob", Args: json.RawMessage(`{}`)}},
			{Call: &llm.Call{ID: "own", Name: "grep", Args: json.RawMessage(`{}`), Raw: `"no object"`}},
			{Call: &llm.Call{ID: "gemini_call_3", Name: "grep", Args: json.RawMessage(`{}`)}},
			state(`{"thoughtSignature":"ZW5k"}`),
		}},
		Usage: llm.Usage{Input: 330, CacheRead: 300, Output: 42},
		Stop:  llm.StopCalls,
	}
	provider.Answer(t, stream, want)
}

func state(data string) llm.Part {
	return llm.Part{State: &llm.State{Owner: "gemini", Data: json.RawMessage(data)}}
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
		t.Run(tt.name, func(t *testing.T) { provider.Stops(t, tt.stream, tt.want) })
	}
}

func problem(code int, message, details string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":"S","details":[%s]}}`, code, message, details)
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
		{"error within the stream", sse(chunks(say(`{"text":"a"}`), problem(503, "overloaded", ""))),
			llm.Error{Kind: llm.Overloaded, Status: 503, Message: "overloaded"}},
		{"cut within an event", sse(provider.Begun + `data: {"candidates":[{"con`),
			llm.Error{Kind: llm.Cut, Message: "the stream ended before its answer did"}},
		{"cut after a stop", wiretest.Broken(provider.Whole),
			llm.Error{Kind: llm.Cut, Message: "the answer broke off: unexpected EOF"}},
		{"a call that is none", sse(chunks(`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`)),
			llm.Error{Kind: llm.Malformed, Message: "the model's tool call is not valid (MALFORMED_FUNCTION_CALL)"}},
		{"a negative count", sse(chunks(`{"usageMetadata":{"promptTokenCount":330,"candidatesTokenCount":-1}}`, end("STOP"))), // F12
			llm.Error{Kind: llm.Malformed, Message: "invalid count of tokens -1"}},
		{"a count that overflows", sse(chunks(`{"usageMetadata":{"promptTokenCount":9223372036854775807}}`, end("STOP"))),
			llm.Error{Kind: llm.Malformed, Message: "invalid count of tokens 9223372036854775807"}},
		{"odd details", status(429, `{"error":{"code":"x","details":[7],"message":"quota"}}`),
			llm.Error{Kind: llm.RateLimit, Status: 429, Message: "quota"}},
		{"error without a message", sse(chunks(`{"error":{"code":500}}`)),
			llm.Error{Kind: llm.Overloaded, Status: 500, Message: "the provider reported an error without a message"}},
		{"error of another type", sse(chunks(`{"error":"x"}`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
		{"no JSON", sse(chunks(`{"candidates":`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
		{"other JSON", sse(chunks(`{"candidates":"x"}`)),
			llm.Error{Kind: llm.Malformed, Message: "*"}},
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

// A model's name goes into the address escaped, with the collection that it names or models/.
func TestModelNames(t *testing.T) {
	for name, want := range map[string]string{
		"gemini-2.5-pro":   "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		"models/x":         "/v1beta/models/x:streamGenerateContent?alt=sse",
		"tunedModels/x":    "/v1beta/tunedModels/x:streamGenerateContent?alt=sse",
		"vendor/x?key=1#a": "/v1beta/models/vendor/x%3Fkey=1%23a:streamGenerateContent?alt=sse",
		"a/../../b":        "",
	} {
		s := wiretest.Serve(t, wiretest.SSE(provider.Whole))
		m, err := gemini.New(&gemini.Options{BaseURL: s.URL, Model: name})
		if want == "" {
			if err == nil {
				t.Errorf("%s: got no error", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := wiretest.Collect(t, m, wiretest.Hello()); err != nil || s.Last().URL != want {
			t.Errorf("%s: got %s, %v, want %s", name, s.Last().URL, err, want)
		}
	}
}
