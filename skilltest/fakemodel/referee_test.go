package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// This is a valid conversation on each wire: a prompt, a call with its result, a tool.
var good = map[Wire]struct{ path, body string }{
	Anthropic: {"/v1/messages", `{"model":"m","max_tokens":9,"system":"S",
		"tools":[{"name":"look","description":"D","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a1","name":"look","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a1","content":"seen"},{"type":"text","text":"Go on"}]}]}`},
	Responses: {"/v1/responses", `{"model":"m","instructions":"S","max_output_tokens":16,
		"tools":[{"type":"function","name":"look","description":"D","parameters":{"type":"object"},"strict":false}],
		"input":[{"role":"user","content":"Hi"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"function_call","id":"fc_1","call_id":"a1","name":"look","arguments":"{}"},
		{"type":"function_call_output","call_id":"a1","output":"seen"},{"role":"user","content":[{"type":"input_text","text":"Go on"}]}]}`},
	Chat: {"/chat/completions", `{"model":"m","max_tokens":9,
		"tools":[{"type":"function","function":{"name":"look","description":"D","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"S"},{"role":"user","content":"Hi"},
		{"role":"assistant","content":"I look.","tool_calls":[{"id":"a1","type":"function","function":{"name":"look","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a1","content":"seen"},{"role":"user","content":"Go on"}]}`},
	Gemini: {"/v1beta/models/m:generateContent", `{"systemInstruction":{"parts":[{"text":"S"}]},
		"tools":[{"functionDeclarations":[{"name":"look","description":"D","parameters":{"type":"OBJECT"}}]}],
		"contents":[{"role":"user","parts":[{"text":"Hi"}]},
		{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"a1","name":"look","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a1","name":"look","response":{"output":"seen"}}},{"text":"Go on"}]}]}`},
}

func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("X-Api-Key", "k")
	r.Header.Set("X-Goog-Api-Key", "k")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// The view of one conversation is the same on every wire.
func TestView(t *testing.T) {
	for _, w := range wires() {
		s := New(t, Step{Text: "ok"})
		if status, body := post(t, s, good[w].path, good[w].body); status != 200 {
			t.Fatalf("%s: %d %s", w, status, body)
		}
		q := s.Requests()[0]
		got := fmt.Sprintf("%s|%s|", q.Model, q.System)
		for _, m := range q.Messages {
			got += m.Role + ":"
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					got += " call " + p.Call.ID + " " + p.Call.Name + p.Call.Args
				case p.Result != nil:
					got += " result " + p.Result.ID + " " + p.Result.Name + " " + p.Result.Text
				default:
					got += " " + p.Text
				}
			}
			got += "|"
		}
		want := "m|S|user: Hi|assistant: I look. call a1 look{}|user: result a1 look seen Go on|"
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", w, got, want)
		}
	}
}

// The server rejects what a vendor rejects: each row changes one thing in a valid request.
func TestReferee(t *testing.T) {
	rows := []struct {
		name     string
		wire     Wire
		old, new string
		want     string
	}{
		{"no JSON", Anthropic, `{"model"`, `{model`, "must be an object"},
		{"no model", Anthropic, `"model":"m",`, ``, "body.model: field required"},
		{"no max_tokens", Anthropic, `"max_tokens":9,`, ``, "max_tokens: field required"},
		{"no tokens", Anthropic, `"max_tokens":9`, `"max_tokens":0`, "greater than or equal to 1"},
		{"block is a text", Anthropic, `{"type":"text","text":"Go on"}`, `"Go on"`, "must be an object"},
		{"unknown field", Anthropic, `"model":"m"`, `"model":"m","max_output_tokens":1`, `unknown field "max_output_tokens"`},
		{"empty text", Anthropic, `"text":"Go on"`, `"text":" "`, "must be non-empty"},
		{"empty content", Anthropic, `"content":"Hi"`, `"content":[]`, "non-empty list"},
		{"empty message", Anthropic, `"content":"Hi"`, `"content":""`, "non-empty"},
		{"empty system", Anthropic, `"system":"S"`, `"system":""`, "system: text content"},
		{"one role twice", Anthropic, `{"role":"user","content":"Hi"}`, `{"role":"user","content":"Hi"},{"role":"user","content":"Hi"}`, "roles must alternate"},
		{"assistant first", Anthropic, `{"role":"user","content":"Hi"},`, ``, "the first message must be from the user"},
		{"unknown role", Anthropic, `"role":"user","content":"Hi"`, `"role":"system","content":"Hi"`, "must be user or assistant"},
		{"result of the assistant", Anthropic, `"role":"assistant","content":[`, `"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a1"},`, `cannot contain a block of type "tool_result"`},
		{"unknown call", Anthropic, `"tool_use_id":"a1"`, `"tool_use_id":"a2"`, `no call in the previous message for the result with ID "a2"`},
		{"call without result", Anthropic, `{"type":"tool_result","tool_use_id":"a1","content":"seen"},`, ``, `no result in the next message for the call "a1" of "look"`},
		{"content of a result", Anthropic, `"content":"seen"`, `"content":7`, "must be a string or a list of parts"},
		{"text before result", Anthropic, `{"type":"tool_result"`, `{"type":"text","text":"x"},{"type":"tool_result"`, "must come before text"},
		{"arguments are not an object", Anthropic, `"input":{}`, `"input":"{}"`, "must be a JSON object"},
		{"ID with a space", Anthropic, `"a1"`, `"a 1"`, `invalid ID "a 1" of a call`},
		{"name of a call", Anthropic, `"id":"a1","name":"look"`, `"id":"a1","name":"a.b"`, `invalid name "a.b" of a call`},
		{"an ID twice", Anthropic, `{"type":"tool_use"`, `{"type":"tool_use","id":"a1","name":"look","input":{}},{"type":"tool_use"`, `duplicate ID "a1" of a call`},
		{"tool name", Anthropic, `[{"name":"look"`, `[{"name":"a.b"`, `invalid name "a.b"`},
		{"tool twice", Anthropic, `"tools":[`, `"tools":[{"name":"look","input_schema":{"type":"object"}},`, "duplicate name"},
		{"schema is not an object", Anthropic, `{"type":"object"}`, `{"type":"string"}`, "must be of type object"},
		{"foreign tool", Anthropic, `{"name":"look"`, `{"type":"bash_1","name":"look"`, `unsupported tool type "bash_1"`},
		{"five cache marks", Anthropic, `"text":"Go on"`, `"text":"Go on"` + strings.Repeat(`,"cache_control":{"type":"ephemeral"}`, 5), "maximum of 4"},

		{"no input", Responses, `"input":[`, `"metadata":[`, "body.input: field required"},
		{"few tokens", Responses, `"max_output_tokens":16`, `"max_output_tokens":9`, "at least 16"},
		{"chat's field", Responses, `"model"`, `"messages":[],"model"`, `unknown field "messages"`},
		{"user's output_text", Responses, `"input_text"`, `"output_text"`, `expected a part of type "input_text"`},
		{"item is a text", Responses, `"input":[`, `"input":["x",`, "must be an object"},
		{"item's ID", Responses, `"fc_1"`, `"call_1"`, "begins with 'fc'"},
		{"arguments as object", Responses, `"arguments":"{}"`, `"arguments":{}`, "a string that contains JSON"},
		{"arguments malformed", Responses, `"arguments":"{}"`, `"arguments":"{"`, "must be a JSON object"},
		{"output without call", Responses, `"call_id":"a1","output"`, `"call_id":"a2","output"`, `no call in the previous message`},
		{"no output", Responses, `{"type":"function_call_output","call_id":"a1","output":"seen"},`, ``, "no result in the next message"},
		{"unknown item", Responses, `"type":"message"`, `"type":"item_reference"`, "unsupported item type"},
		{"strict schema", Responses, `"strict":false`, `"strict":true`, "in strict mode"},
		{"built-in tool", Responses, `"type":"function","name"`, `"type":"web_search","name"`, "only functions"},
		{"system in the middle", Responses, `{"role":"user","content":[`, `{"role":"system","content":"x"},{"role":"user","content":[`, "must come first"},
		{"unknown role", Responses, `{"role":"user","content":"Hi"}`, `{"role":"tool","content":"Hi"}`, "unknown role"},

		{"model without a name", Chat, `"model":"m"`, `"model":""`, "model: field required"},
		{"answer at the end", Chat, `{"role":"user","content":"Go on"}`, `{"role":"assistant","content":"Go on"}`, "the last message must be from the user"},
		{"no messages", Chat, `"messages":[`, `"metadata":[`, "messages: field required"},
		{"options without stream", Chat, `"model":"m"`, `"model":"m","stream_options":{"include_usage":true}`, "only allowed when stream"},
		{"no tools in the list", Chat, `"tools":[{"type":"function","function":{"name":"look","description":"D","parameters":{"type":"object"}}}]`, `"tools":[]`, "too short"},
		{"parallel calls without tools", Chat, `"tools":[{"type":"function","function":{"name":"look","description":"D","parameters":{"type":"object"}}}]`, `"parallel_tool_calls":false`, "only allowed when tools"},
		{"system in the middle", Chat, `{"role":"assistant"`, `{"role":"system","content":"x"},{"role":"assistant"`, "must come first"},
		{"result without call", Chat, `"tool_call_id":"a1"`, `"tool_call_id":"a2"`, "no call in the previous message"},
		{"user between call and result", Chat, `{"role":"tool"`, `{"role":"user","content":"x"},{"role":"tool"`, "must come before text"},
		{"content missing", Chat, `"role":"user","content":"Hi"`, `"role":"user"`, "content: field required"},
		{"arguments as object", Chat, `"arguments":"{}"`, `"arguments":{}`, "a string that contains JSON"},
		{"call without type", Chat, `"id":"a1","type":"function"`, `"id":"a1"`, "type: field required"},
		{"call of the user", Chat, `{"role":"user","content":"Hi"`, `{"role":"user","content":"Hi","tool_calls":[{"id":"b","type":"function","function":{"name":"x","arguments":"{}"}}]`, "only the assistant can call"},
		{"unknown role", Chat, `{"role":"tool"`, `{"role":"function"`, "unknown role"},
		{"function missing", Chat, `"function":{"name":"look","description"`, `"x":{"name":"look","description"`, "unknown field"},

		{"no contents", Gemini, `"contents":[`, `"safetySettings":[`, "contents: field required"},
		{"OpenAI's role", Gemini, `"role":"model"`, `"role":"assistant"`, "valid role"},
		{"no content", Responses, `"input":[{"role":"user","content":"Hi"},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"function_call","id":"fc_1","call_id":"a1","name":"look","arguments":"{}"},
		{"type":"function_call_output","call_id":"a1","output":"seen"},{"role":"user","content":[{"type":"input_text","text":"Go on"}]}]`, `"input":[]`, "at least one message"},
		{"no parts", Gemini, `[{"text":"Hi"}]`, `[]`, "must not be empty"},
		{"schema not OpenAPI's", Gemini, `"type":"OBJECT"`, `"type":"OBJECT","properties":{"a":{"type":"STRING","$comment":"x"}}`, `unknown field "$comment"`},
		{"both schemas", Gemini, `"parameters":`, `"parametersJsonSchema":{},"parameters":`, "mutually exclusive"},
		{"no description", Gemini, `"description":"D",`, ``, "description: field required"},
		{"other name", Gemini, `{"id":"a1","name":"look","response"`, `{"id":"a1","name":"see","response"`, "no call in the previous message"},
		{"response is text", Gemini, `{"output":"seen"}`, `"seen"`, "functionResponse.response"},
		{"call of the user", Gemini, `{"text":"Hi"}`, `{"functionCall":{"name":"look"}}`, "no valid data"},
		{"part without data", Gemini, `{"text":"Hi"}`, `{}`, "no valid data"},
		{"snake case", Gemini, `"systemInstruction"`, `"system_instruction"`, "unknown field"},
	}
	for _, r := range rows {
		t.Run(fmt.Sprintf("%s/%s", r.wire, r.name), func(t *testing.T) {
			s := Start(Step{Text: "this must not be sent"})
			defer s.Close()
			body := strings.Replace(good[r.wire].body, r.old, r.new, 1)
			if r.name == "ID with a space" {
				body = strings.ReplaceAll(good[r.wire].body, r.old, r.new)
			}
			if body == good[r.wire].body {
				t.Fatal("the row does not change the request")
			}
			status, got := post(t, s, good[r.wire].path, body)
			var e struct {
				Error struct{ Message string }
			}
			if err := json.Unmarshal([]byte(got), &e); err != nil || status != 400 || !strings.Contains(e.Error.Message, r.want) {
				t.Errorf("got %d %s, want %q", status, got, r.want)
			}
			if p, q := s.Problems(), s.Requests(); len(p) != 1 || len(q) != 1 || q[0].Refused != e.Error.Message || string(q[0].Body) != body {
				t.Errorf("got %v, %+v", p, q)
			}
		})
	}
}

// Calls of older Gemini models have no ID: their order assigns the results.
func TestGeminiWithoutIDs(t *testing.T) {
	s := New(t, Step{Calls: []Call{{Name: "look"}}, NoIDs: true}, Step{})
	g := good[Gemini]
	_, got := post(t, s, g.path, g.body)
	if strings.Contains(got, `"id"`) || !strings.Contains(got, `"functionCall"`) {
		t.Errorf("got %s", got)
	}
	if status, got := post(t, s, g.path, strings.ReplaceAll(g.body, `"id":"a1",`, "")); status != 200 {
		t.Errorf("got %d %s", status, got)
	}
}

// Reasoning must be sent back with its calls, in the form of each wire.
func TestSignatures(t *testing.T) {
	reasoning := map[Wire]struct{ at, with string }{
		Anthropic: {`{"type":"tool_use"`, `{"type":"thinking","thinking":"Hm.","signature":"c2lnbmF0dXJl0000"},{"type":"tool_use"`},
		Responses: {`{"type":"function_call",`, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2lnbmF0dXJl0000"},{"type":"function_call",`},
		Gemini:    {`{"functionCall"`, `{"thoughtSignature":"c2lnbmF0dXJl0000","functionCall"`},
	}
	for w, r := range reasoning {
		t.Run(string(w), func(t *testing.T) {
			s := Start(Step{Thought: "Hm.", Calls: []Call{{ID: "a1", Name: "look"}}}, Step{})
			defer s.Close()
			body := good[w].body
			if w == Responses {
				body = strings.Replace(body, `"model"`, `"include":["reasoning.encrypted_content"],"model"`, 1)
			}
			if _, got := post(t, s, good[w].path, body); !strings.Contains(got, "c2lnbmF0dXJl0000") {
				t.Errorf("no signature in %s", got)
			}
			if status, got := post(t, s, good[w].path, body); status != 400 || !strings.Contains(got, "must be sent back") {
				t.Errorf("without: got %d %s", status, got)
			}
			if status, got := post(t, s, good[w].path, strings.Replace(body, r.at, r.with, 1)); status != 200 {
				t.Errorf("with it: got %d %s", status, got)
			}
		})
	}
}

// Anthropic's wire requires the version header.
func TestAnthropicVersion(t *testing.T) {
	s := Start(Step{})
	defer s.Close()
	resp, err := http.Post(s.URL+good[Anthropic].path, "application/json", strings.NewReader(good[Anthropic].body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 || !strings.Contains(string(b), "anthropic-version") {
		t.Errorf("got %d %s", resp.StatusCode, b)
	}
}

func TestOtherAddresses(t *testing.T) {
	s := Start(Step{})
	defer s.Close()
	for _, path := range []string{"/messages", "/v2/responses", "/v1beta/models/m:countTokens", "/"} {
		if status, got := post(t, s, path, "{}"); status != 404 {
			t.Errorf("%s: got %d %s", path, status, got)
		}
	}
	for path, want := range map[string]string{"/v1/models": `"id":"fake-model"`, "/v1beta/models": `"models/fake-model"`} {
		resp, err := http.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(b), want) {
			t.Errorf("%s: got %s", path, b)
		}
	}
	if got := len(s.Problems()); got != 4 {
		t.Errorf("got %d problems, want 4", got)
	}
}

// The server answers any bytes with 200 or an error in the form of the wire.
func FuzzRead(f *testing.F) {
	for i, w := range wires() {
		f.Add(byte(i), good[w].body)
	}
	f.Fuzz(func(t *testing.T, wire byte, body string) {
		g := good[wires()[wire%4]]
		p, _ := protocolOf(g.path)
		s := &Server{steps: []Step{{Forever: true}}, given: map[string]string{}}
		q := &Request{Wire: p.wire, Path: g.path, Header: http.Header{"Anthropic-Version": {"1"}, "X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"}}}
		_, _, err := s.accept(p, q, strings.NewReader(body))
		if (err == nil) != (q.Refused == "") || (err == nil) == (len(s.Problems()) > 0) {
			t.Errorf("error %v, refused %q, problems %v", err, q.Refused, s.Problems())
		}
		if err == nil && (len(q.Messages) == 0 || len(q.Turns) == 0) {
			t.Errorf("taken without a message: %s", body)
		}
	})
}
