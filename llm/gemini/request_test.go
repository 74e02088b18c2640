package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// whole is a request with everything that one can hold.
func whole() *llm.Request {
	return wiretest.Talk([]llm.Message{
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
	})
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

// issue 4.1: the request byte for byte, with schemas and arguments as they are, signatures on their parts, no empty
// text, one message per turn and results first; the same request gives the same bytes.
func TestRequest(t *testing.T) {
	provider.Request(t, whole(), wholeJSON)
	provider.Request(t, wiretest.Hello(), `{"contents":[{"parts":[{"text":"hello"}],"role":"user"}],"generationConfig":{}}`)
}

// R97: the prefix of a conversation has the same bytes in each turn, its messages too.
func TestPrefixStays(t *testing.T) { provider.PrefixStays(t, whole()) }

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
			got := provider.Fields(t, r)
			if want := `[{"parts":[` + tt.want + `],"role":"model"}]`; string(got["contents"]) != want {
				t.Errorf("got %s, want %s", got["contents"], want)
			}
			if want := `[{"functionDeclarations":[{"name":"bare"}]}]`; string(got["tools"]) != want {
				t.Errorf("got %s, want %s", got["tools"], want)
			}
		})
	}
	provider.BadSchema(t)
}

// issue 4.1: nothing of the environment reaches a request; what is not given is not looked up.
func TestEnvironmentHasNoEffect(t *testing.T) {
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	provider.Environment(t, []string{"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_CLOUD_REGION", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_REPLAYS_DIRECTORY"},
		[]string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"})
}

func TestNewRefuses(t *testing.T) { provider.Refuses(t) }

// FuzzStream: whatever a server sends, an answer ends with a stop or an error, and its calls have arguments.
func FuzzStream(f *testing.F) {
	f.Add(chunks(say(`{"text":"a"}`, `{"functionCall":{"name":"n","args":{"a":1}},"thoughtSignature":"YQ=="}`), end("STOP")))
	f.Add(chunks(say(`{"functionCall":{"args":[1]}}`), problem(503, "x", "")))
	f.Add("data: {\"candidates\":[null,{\"content\":null}],\"promptFeedback\":7,\"usageMetadata\":{\"promptTokenCount\":-1}}\n\n")
	f.Add("data: {\"error\":\"x\"}\r\n\r\n:\n\ndata: 1\ndata:2\n\n{\"error\":{}}\n\n")
	provider.Fuzz(f)
}

// issue 26.5: an effort is a level or a budget, and the thoughts are asked for.
func TestEffort(t *testing.T) {
	for want, e := range map[string]llm.Effort{
		`{}`: {},
		`{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`: {Level: "high"},
		`{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}`:  {Budget: 1024},
	} {
		r := wiretest.Hello()
		r.Effort = e
		if got := provider.Fields(t, r); string(got["generationConfig"]) != want {
			t.Errorf("got %s, want %s", got["generationConfig"], want)
		}
	}
}

// Images and documents are parts of their own; those of a result follow it.
func TestMedia(t *testing.T) {
	const both = `{"inlineData":{"data":"UE5H","mimeType":"image/png"}},{"inlineData":{"data":"UERG","mimeType":"application/pdf"}}`
	provider.Request(t, wiretest.Shown(), `{"contents":[
		{"parts":[`+both+`,{"text":"compare"}],"role":"user"},
		{"parts":[{"functionCall":{"args":{},"id":"c1","name":"read"}}],"role":"model"},
		{"parts":[{"functionResponse":{"id":"c1","name":"read","response":{"output":"two"}}},`+both+`],"role":"user"}],"generationConfig":{}}`)
}
