package anthropic_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// whole is a request with everything that one can hold.
func whole() *llm.Request {
	return wiretest.Talk([]llm.Message{
		{Role: llm.User, Parts: []llm.Part{{Text: "tier text"}, {Text: ""}, {Text: " \n"}}},
		{Role: llm.User, Parts: []llm.Part{{Text: "greet Ann"}}},
		{Role: llm.Assistant, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)}},
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"redacted_thinking","data":"b3BhcXVl"}`)}},
			{State: &llm.State{Owner: "gemini", Data: json.RawMessage(`{"x":1}`)}},
			{Text: "I call."},
			{Call: &llm.Call{ID: "t1", Name: "hello", Args: json.RawMessage(`{"name":"Ann","id":12345678901234567890}`)}},
			{Call: &llm.Call{ID: "t2", Name: "glob", Args: json.RawMessage(`{}`), Raw: `{"cut`}},
		}},
		{Role: llm.User, Parts: []llm.Part{
			{Text: "a word with it"},
			{Result: &llm.Result{ID: "t1", Name: "hello", Text: "Hello Ann"}},
			{Result: &llm.Result{ID: "t2", Name: "glob", Text: "arguments are not JSON", Failed: true}},
			{Result: &llm.Result{ID: "t3", Name: "glob", Text: ""}},
		}},
	})
}

const wholeJSON = `{
 "max_tokens": 100,
 "messages": [
  {"content": [{"text": "tier text", "type": "text"}, {"text": "greet Ann", "cache_control": {"type": "ephemeral"}, "type": "text"}], "role": "user"},
  {"content": [
   {"signature": "c2ln", "thinking": "hm", "type": "thinking"},
   {"data": "b3BhcXVl", "type": "redacted_thinking"},
   {"text": "I call.", "type": "text"},
   {"id": "t1", "input": {"name": "Ann", "id": 12345678901234567890}, "name": "hello", "type": "tool_use"},
   {"id": "t2", "input": {}, "name": "glob", "type": "tool_use"}], "role": "assistant"},
  {"content": [
   {"tool_use_id": "t1", "content": [{"text": "Hello Ann", "type": "text"}], "type": "tool_result"},
   {"tool_use_id": "t2", "is_error": true, "content": [{"text": "arguments are not JSON", "type": "text"}], "type": "tool_result"},
   {"tool_use_id": "t3", "type": "tool_result"},
   {"text": "a word with it", "cache_control": {"type": "ephemeral"}, "type": "text"}], "role": "user"}],
 "model": "model-1",
 "system": [{"text": "You have skills.", "cache_control": {"type": "ephemeral"}, "type": "text"}],
 "tools": [
  {"input_schema": {"type": "object", "$defs": {"n": {"maximum": 9223372036854775807}}, "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
   "name": "hello", "description": "greets <all>"},
  {"input_schema": {"type": "object"}, "name": "glob", "cache_control": {"type": "ephemeral"}}],
 "stream": true}`

// issue 4.1: the request byte for byte, with four marks for the cache, an unchanged schema, no empty text, one message
// per turn and results first; the same request gives the same bytes.
func TestRequest(t *testing.T) {
	provider.Request(t, whole(), wholeJSON)
	provider.Request(t, wiretest.Hello(), `{"max_tokens":8192,"messages":[{"content":[{"text":"hello","cache_control":{"type":"ephemeral"},"type":"text"}],"role":"user"}],"model":"model-1","stream":true}`)
}

// R97: the prefix of a conversation has the same bytes in each turn, and its messages too but for the marks.
func TestPrefixStays(t *testing.T) {
	first, second := provider.PrefixStays(t, whole())
	// The place that the first request marked at its end is marked in the second.
	var before, after []struct{ Content []json.RawMessage }
	if json.Unmarshal(first, &before) != nil || json.Unmarshal(second, &after) != nil {
		t.Fatal("the messages are no list")
	}
	end := before[2].Content[len(before[2].Content)-1]
	if again := after[2].Content[len(after[2].Content)-1]; !bytes.Equal(end, again) || !bytes.Contains(end, []byte("cache_control")) {
		t.Errorf("got %s, then %s; want the same mark", end, again)
	}
}

func TestOddRequests(t *testing.T) {
	tests := []struct {
		name string
		msg  llm.Message
		want string
	}{
		{"a state that is not ours", llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"tool_use"}`)}},
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`7`)}}}}, `[]`},
		{"nothing but reasoning of the user", llm.Message{Role: llm.User, Parts: []llm.Part{
			{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"type":"redacted_thinking","data":"x"}`)}}}},
			`[{"content":[{"data":"x","type":"redacted_thinking"}],"role":"user"}]`},
		{"a call without arguments", llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "a", Name: "b"}}}},
			`[{"content":[{"id":"a","input":{},"name":"b","type":"tool_use"}],"role":"assistant"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &llm.Request{Messages: []llm.Message{tt.msg}, Tools: []llm.Tool{{Name: "bare"}}}
			got := provider.Fields(t, r)
			if string(got["messages"]) != tt.want && !(tt.want == "[]" && got["messages"] == nil) {
				t.Errorf("got %s, want %s", got["messages"], tt.want)
			}
			if want := `[{"input_schema":{"type":"object"},"name":"bare","cache_control":{"type":"ephemeral"}}]`; string(got["tools"]) != want {
				t.Errorf("got %s, want %s", got["tools"], want)
			}
		})
	}
	provider.BadSchema(t)
}

// issue 4.1: nothing of the environment reaches a request; what is not given is not looked up.
func TestEnvironmentHasNoEffect(t *testing.T) {
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Evil: evil-value")
	provider.Environment(t, []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR",
		"ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_WORKSPACE_ID",
		"ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_WEBHOOK_SIGNING_KEY"}, []string{"ANTHROPIC_BASE_URL"})
}

func TestNewRefuses(t *testing.T) { provider.Refuses(t) }

// FuzzStream: whatever a server sends, an answer ends with a stop or an error, and its calls have arguments.
func FuzzStream(f *testing.F) {
	f.Add(events(start, ping) + text(0, "a") + toolUse(1, "t", "n", `{"a":1}`) + finish("tool_use"))
	f.Add(events(start, problem("overloaded_error", "x")))
	f.Add("event: content_block_delta\ndata: {\"index\":-1,\"delta\":7,\"content_block\":[1]}\n\n")
	f.Add("data: {}\r\n\r\n:\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	provider.Fuzz(f)
}

// issue 26.5: an effort is adaptive thinking with a word, or thinking within a budget that leaves room for the answer.
func TestEffort(t *testing.T) {
	for _, tt := range []struct {
		name             string
		effort           llm.Effort
		most             int
		thinking, output string
	}{
		{"none", llm.Effort{}, 0, "", ""},
		{"a word", llm.Effort{Level: "high"}, 0, `{"type":"adaptive","display":"summarized"}`, `{"effort":"high"}`},
		{"a budget", llm.Effort{Budget: 24576}, 64000, `{"type":"enabled","budget_tokens":24576}`, ""},
		{"a budget above half of the answer", llm.Effort{Budget: 24576}, 0, `{"type":"enabled","budget_tokens":4096}`, ""},
		{"an answer too short to think", llm.Effort{Budget: 24576}, 2000, "", ""},
	} {
		r := wiretest.Hello()
		r.Effort, r.MaxTokens = tt.effort, tt.most
		got := provider.Fields(t, r)
		if string(got["thinking"]) != tt.thinking || string(got["output_config"]) != tt.output {
			t.Errorf("%s: got %s and %s, want %s and %s", tt.name, got["thinking"], got["output_config"], tt.thinking, tt.output)
		}
	}
}

// Images and documents are blocks of their own, and within the result of a tool.
func TestMedia(t *testing.T) {
	const image = `{"source":{"data":"UE5H","media_type":"image/png","type":"base64"},"type":"image"}`
	const document = `"source":{"data":"UERG","media_type":"application/pdf","type":"base64"},"title":"b.pdf","type":"document"}`
	const mark = `"cache_control":{"type":"ephemeral"},`
	provider.Request(t, wiretest.Shown(), `{"max_tokens":8192,"messages":[
		{"content":[`+image+`,{`+document+`,{"text":"compare",`+mark+`"type":"text"}],"role":"user"},
		{"content":[{"id":"c1","input":{},"name":"read","type":"tool_use"}],"role":"assistant"},
		{"content":[{"tool_use_id":"c1",`+mark+`"content":[{"text":"two","type":"text"},`+image+`,{`+document+`],"type":"tool_result"}],"role":"user"}],
		"model":"model-1","stream":true}`)
}
