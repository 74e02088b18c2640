package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// chatChunk makes a chunk with a delta.
func chatChunk(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

func chatStop(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// R97: what servers of Chat Completions send, the orderly and the others.
func TestChatStream(t *testing.T) {
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"text and usage", []string{
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":null}`, chatChunk(`{"content":"Hel"}`), chatChunk(`{"content":"lo"}`),
			chatStop("stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`, "[DONE]"},
			`{"text":"Hel"} {"text":"lo"} {"usage":{"input":10,"cache_read":8,"output":2}} {"stop":"end"}`},
		{"no DONE", []string{chatChunk(`{"content":"a"}`), chatStop("stop")}, `{"text":"a"} {"stop":"end"}`},
		{"no reason", []string{chatChunk(`{"content":"a"}`), "[DONE]"}, `{"text":"a"} {"stop":"end"}`},
		{"calls in pieces", []string{
			chatChunk(`{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":""}}]}`),
			chatChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\""}}]}`),
			chatChunk(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"wait","arguments":"{"}}]}`),
			chatChunk(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"}"}}]}`),
			chatStop("tool_calls"), "[DONE]"},
			`{"call":{"id":"a","name":"look","args":{"q":1}}} {"call":{"id":"b","name":"wait","args":{}}} {"stop":"calls"}`},
		{"whole calls without index and id, and stop", []string{
			chatChunk(`{"tool_calls":[{"id":"","function":{"name":"look","arguments":"{\"a\":1}"}},{"function":{"name":"look","arguments":"{\"a\":2}"}}]}`), chatStop("stop"), "[DONE]"},
			`{"call":{"id":"call_1","name":"look","args":{"a":1}}} {"call":{"id":"call_2","name":"look","args":{"a":2}}} {"stop":"calls"}`},
		{"pieces without index", []string{
			chatChunk(`{"tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"a\""}}]}`), chatChunk(`{"tool_calls":[{"function":{"arguments":":1}"}}]}`), "[DONE]"},
			`{"call":{"id":"a","name":"look","args":{"a":1}}} {"stop":"calls"}`},
		{"one index for all", []string{
			chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}}]}`), chatChunk(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"look","arguments":"{}"}}]}`), chatStop("tool_calls")},
			`{"call":{"id":"a","name":"look","args":{}}} {"call":{"id":"b","name":"look","args":{}}} {"stop":"calls"}`},
		{"a new id with every piece", []string{
			chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{"}}]}`), chatChunk(`{"tool_calls":[{"index":0,"id":"b","function":{"arguments":"}"}}]}`), chatStop("tool_calls")},
			`{"call":{"id":"a","name":"look","args":{}}} {"stop":"calls"}`},
		{"the same id twice", []string{
			chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"look","arguments":"{}"}}]}`), chatStop("tool_calls")},
			`{"call":{"id":"a","name":"look","args":{}}} {"call":{"id":"call_1","name":"look","args":{}}} {"stop":"calls"}`},
		{"arguments as an object", []string{chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":{"q":1}}}]}`), "[DONE]"},
			`{"call":{"id":"a","name":"look","args":{"q":1}}} {"stop":"calls"}`},
		{"arguments that are no object", []string{chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"[1"}}]}`), "[DONE]"},
			`{"call":{"id":"a","name":"look","args":{},"raw":"[1"}} {"stop":"calls"}`},
		{"no arguments", []string{chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":""}}]}`), "[DONE]"},
			`{"call":{"id":"a","name":"look","args":{}}} {"stop":"calls"}`},
		{"length", []string{chatChunk(`{"content":"a"}`), chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"q"}}]}`), chatStop("length"), "[DONE]"},
			`{"text":"a"} {"call":{"id":"a","name":"look","args":{},"raw":"{\"q"}} {"stop":"length"}`},
		{"length before a name", []string{chatChunk(`{"tool_calls":[{"index":0,"id":"a","function":{}}]}`), chatStop("length"), "[DONE]"}, `{"stop":"length"}`},
		{"thoughts", []string{chatChunk(`{"reasoning_content":"hm","reasoning":"hm"}`), chatChunk(`{"reasoning":"so"}`), chatChunk(`{"content":"a"}`), chatStop("stop"), "[DONE]"},
			`{"thought":"hm"} {"thought":"so"} {"text":"a"} {"stop":"end"}`},
		{"filter", []string{chatChunk(`{"content":"a"}`), chatStop("content_filter"), "[DONE]"}, `{"text":"a"} {"stop":"refused"}`},
		{"refusal", []string{chatChunk(`{"content":null,"refusal":"No."}`), chatStop("stop"), "[DONE]"}, `{"text":"No."} {"stop":"refused"}`},
		{"parts, another choice, an error of null", []string{
			`{"error":null,"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"a"}]}},{"index":1,"delta":{"content":"b"}}]}`, chatStop("stop"), "[DONE]"},
			`{"text":"a"} {"stop":"end"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := wiretest.Serve(t, wiretest.SSE(": a comment\n\n"+sse(tt.events...)))
			got, err := lines(t.Context(), NewChat(&Options{BaseURL: s.URL, Model: "m"}), hello())
			if got = strings.ReplaceAll(got, "\n", " "); err != nil || got != tt.want {
				t.Errorf("error %v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

func TestResponsesStream(t *testing.T) {
	call := `{"type":"response.output_item.done","item":{"id":"fc_1","type":"function_call","status":"completed","call_id":"c1","name":"look","arguments":"{\"q\":1}"}}`
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"text, reasoning, calls, usage", []string{
			`{"type":"response.created","response":{"status":"in_progress","error":null,"usage":null}}`,
			`{"type":"response.output_item.added","item":{"type":"reasoning"}}`,
			`{"type":"response.output_item.done","item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"xyz","status":null}}`,
			`{"type":"response.output_item.added","item":{"type":"message"}}`,
			`{"type":"response.output_text.delta","delta":"I "}`, `{"type":"response.output_text.delta","delta":"look."}`,
			`{"type":"response.function_call_arguments.delta","delta":"{"}`, call,
			`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"","name":"wait","arguments":"[]"}}`,
			`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":3}}}`},
			`{"state":{"owner":"openai","data":{"encrypted_content":"xyz","id":"rs_1","summary":[],"type":"reasoning"}}} {"text":"I "} {"text":"look."} ` +
				`{"call":{"id":"c1","name":"look","args":{"q":1}}} {"call":{"id":"call_1","name":"wait","args":{},"raw":"[]"}} ` +
				`{"usage":{"input":10,"cache_read":4,"output":3}} {"stop":"calls"}`},
		{"reasoning that is not sealed", []string{`{"type":"response.output_item.done","item":{"id":"rs_1","type":"reasoning","summary":[]}}`, responsesDone}, `{"stop":"end"}`},
		{"two messages", []string{`{"type":"response.output_item.added","item":{"type":"message"}}`, `{"type":"response.output_text.delta","delta":"a"}`,
			`{"type":"response.output_item.added","item":{"type":"message"}}`, `{"type":"response.output_text.delta","delta":"b"}`, responsesDone},
			`{"text":"a"} {"text":"\n\n"} {"text":"b"} {"stop":"end"}`},
		{"refusal", []string{`{"type":"response.refusal.delta","delta":"No."}`, responsesDone}, `{"text":"No."} {"stop":"refused"}`},
		{"length", []string{`{"type":"response.output_item.done","item":{"type":"function_call","status":"incomplete","call_id":"c","name":"look","arguments":"{\"q"}}`,
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`}, `{"call":{"id":"c","name":"look","args":{},"raw":"{\"q"}} {"stop":"length"}`},
		{"thoughts", []string{`{"type":"response.reasoning_summary_part.added"}`, `{"type":"response.reasoning_summary_text.delta","delta":"hm"}`,
			`{"type":"response.reasoning_summary_part.added"}`, `{"type":"response.reasoning_summary_text.delta","delta":"so"}`,
			`{"type":"response.reasoning_text.delta","delta":"raw"}`, `{"type":"response.output_text.delta","delta":"a"}`, responsesDone},
			`{"thought":"hm"} {"thought":"\n\n"} {"thought":"so"} {"thought":"raw"} {"text":"a"} {"stop":"end"}`},
		{"filter", []string{`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`}, `{"stop":"refused"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.events...)
			got, err := lines(t.Context(), New(&Options{BaseURL: s.URL, Model: "gpt-5"}), hello())
			if got = strings.ReplaceAll(got, "\n", " "); err != nil || got != tt.want {
				t.Errorf("error %v\ngot  %s\nwant %s", err, got, tt.want)
			}
		})
	}
}

// Pieces of calls are compared with each other: their number has an end.
func TestChatTooManyCalls(t *testing.T) {
	one := `{"id":"","function":{"name":"look","arguments":"{}"}}`
	s := serve(t, chatChunk(`{"tool_calls":[`+one+strings.Repeat(`,`+one, maxDrafts)+`]}`))
	_, err := lines(t.Context(), NewChat(&Options{BaseURL: s.URL, Model: "m"}), hello())
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Malformed || !strings.Contains(e.Message, "more than 1000 tools") {
		t.Errorf("got %v", err)
	}
}

// An id that a call of the conversation has already is not given again.
func TestIDsAreTheirOwn(t *testing.T) {
	r := talk()
	r.Messages[1].Parts[3].Call.ID = "call_3"
	s := serve(t, chatChunk(`{"tool_calls":[{"function":{"name":"look","arguments":"{}"}}]}`), "[DONE]")
	a, err := llm.Collect(t.Context(), NewChat(&Options{BaseURL: s.URL, Model: "m"}), r, nil)
	if err != nil || a.Calls()[0].ID != "call_4" {
		t.Errorf("got %+v, %v", a.Calls(), err)
	}
}

// R97: both protocols, read from whatever bytes, end: with a stop or with an error of ours, and never go on after it.
func FuzzStream(f *testing.F) {
	f.Add([]byte(sse(chatChunk(`{"content":"a","tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{"}}]}`), chatStop("stop"), "[DONE]")))
	f.Add([]byte(sse(`{"type":"response.output_item.done","item":{"type":"reasoning","encrypted_content":"x"}}`, responsesDone)))
	f.Add([]byte(sse(`{"type":"error","code":1,"message":{}}`, `{"error":{"error":[{"error":"x"}]}}`, `{"choices":[{"delta":{"tool_calls":[{}]}}]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := answer(body)
		for _, m := range []llm.Model{New(&Options{Model: "gpt-5", HTTP: s}), NewChat(&Options{Model: "m", HTTP: s})} {
			over := false
			for e, err := range m.Stream(t.Context(), hello()) {
				if over {
					t.Fatal("the stream went on after its end")
				}
				over = err != nil || e.Stop != ""
				if err != nil && (kindOf(err) == err.Error() || err.Error() == "") {
					t.Fatalf("not an *llm.Error with words: %v", err)
				}
				if e.Call != nil && (!isObject(e.Call.Args) || e.Call.ID == "") {
					t.Fatalf("call %+v", e.Call)
				}
			}
			if !over {
				t.Fatal("the stream ended without a word")
			}
		}
	})
}
