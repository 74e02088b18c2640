package fakemodel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

// said is an answer as an SDK decoded it.
type said struct {
	Text  string
	Calls []Call
	Stop  string
	Usage Usage
}

// talk is one request of an SDK: the user's text, one tool, and the calls and results so far.
type talk struct {
	prompt  string
	calls   []Call
	results []Result
}

// The clients check what the server sends: each uses its wire, streaming or not. For OpenAI it is the official SDK. Its
// part for Chat Completions takes minutes to build: it is used with the build tag sdk ("make judges"), otherwise
// chat_plain_test.go checks the answers. The SDKs of Anthropic and Gemini have many dependencies: on these wires the
// answers are decoded strictly, according to the published references.
var clients = map[Wire]func(context.Context, *Server, talk, bool) (said, error){
	Anthropic: askAnthropic,
	Responses: askResponses,
	Chat:      askChat,
	Gemini:    askGemini,
}

func wires() []Wire { return []Wire{Anthropic, Responses, Chat, Gemini} }

var weather = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}

func openaiOptions(s *Server) []ooption.RequestOption {
	return []ooption.RequestOption{ooption.WithBaseURL(s.URL + "/v1"), ooption.WithAPIKey("k"), ooption.WithMaxRetries(0)}
}

func askResponses(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	client := responses.NewResponseService(openaiOptions(s)...)
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(tk.prompt, responses.EasyInputMessageRoleUser)}
	for _, c := range tk.calls {
		items = append(items, responses.ResponseInputItemParamOfFunctionCall(c.Args, c.ID, c.Name))
	}
	for _, r := range tk.results {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(r.Text)
		item.OfFunctionCallOutput.CallID = param.NewOpt(r.ID)
		items = append(items, item)
	}
	p := responses.ResponseNewParams{Model: "fake-model", MaxOutputTokens: param.NewOpt(int64(100)), Instructions: param.NewOpt("Be brief."),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}, Store: param.NewOpt(false),
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "weather",
			Description: param.NewOpt("Tells the weather."), Parameters: weather, Strict: param.NewOpt(false)}}}}
	var r *responses.Response
	var err error
	if stream {
		var text string
		events := client.NewStreaming(ctx, p)
		for events.Next() {
			switch e := events.Current(); e.Type {
			case "response.output_text.delta", "response.refusal.delta":
				text += e.Delta
			case "error":
				return said{}, errors.New(e.Message)
			case "response.completed", "response.incomplete":
				r = &e.Response
			}
		}
		if err = events.Err(); err == nil && r == nil {
			err = errors.New("the stream ended early")
		}
		if err == nil && text != r.OutputText() && r.OutputText() != "" {
			err = fmt.Errorf("deltas give %q, the response has %q", text, r.OutputText())
		}
	} else {
		r, err = client.New(ctx, p)
	}
	if err != nil {
		return said{}, err
	}
	out := said{Text: r.OutputText(), Stop: cmp.Or(r.IncompleteDetails.Reason, string(r.Status)), Usage: Usage{Input: int(r.Usage.InputTokens),
		CacheRead: int(r.Usage.InputTokensDetails.CachedTokens), Output: int(r.Usage.OutputTokens)}}
	for _, item := range r.Output {
		if item.Type == "function_call" {
			out.Calls = append(out.Calls, Call{ID: item.CallID, Name: item.Name, Args: item.Arguments.OfString})
		}
	}
	return out, nil
}

// each runs a test on every wire, with and without streaming.
func each(t *testing.T, f func(t *testing.T, w Wire, stream bool)) {
	for _, w := range wires() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", w, stream), func(t *testing.T) { f(t, w, stream) })
		}
	}
}

// This is a whole turn with two calls at once, and what the server keeps of it.
func TestConversation(t *testing.T) {
	each(t, func(t *testing.T, w Wire, stream bool) {
		usage := Usage{Input: 100, CacheRead: 40, Output: 9}
		s := New(t,
			Step{Text: "I look – ä 🌦.", Delta: 3, Calls: []Call{{Name: "weather", Args: `{"city":"Bern"}`}, {Name: "weather", Args: `{"city":"Rom"}`}}, Usage: usage},
			Step{From: func(q *Request) Step { return Step{Text: "It says " + q.LastResult(), Drip: true} }})
		first, err := clients[w](t.Context(), s, talk{prompt: "Weather?"}, stream)
		if err != nil {
			t.Fatal(err)
		}
		if first.Text != "I look – ä 🌦." || first.Usage != usage || len(first.Calls) != 2 || first.Calls[0].Args != `{"city":"Bern"}` {
			t.Errorf("got %+v", first)
		}
		tk := talk{prompt: "Weather?", calls: first.Calls}
		for i, c := range first.Calls {
			tk.results = append(tk.results, Result{ID: c.ID, Name: c.Name, Text: fmt.Sprintf("%d °C", 20+i)})
		}
		second, err := clients[w](t.Context(), s, tk, stream)
		if err != nil {
			t.Fatal(err)
		}
		if second.Text != "It says 21 °C" || len(second.Calls) != 0 {
			t.Errorf("got %+v", second)
		}
		checkView(t, s, w, stream)
	})
}

func checkView(t *testing.T, s *Server, w Wire, stream bool) {
	t.Helper()
	all := s.Requests()
	if len(all) != 2 {
		t.Fatalf("got %d requests, want 2", len(all))
	}
	q := all[1]
	if q.Wire != w || q.Stream != stream || q.Model != "fake-model" || q.System != "Be brief." || q.MaxTokens != 100 || q.Prompt() != "" {
		t.Errorf("got %+v", q)
	}
	if len(q.Tools) != 1 || q.Tools[0].Name != "weather" || q.Tools[0].Description != "Tells the weather." || !q.HasTool("weather") {
		t.Errorf("tools: %+v", q.Tools)
	}
	if string(q.Prefix) != string(all[0].Prefix) || len(q.Prefix) < 50 || !slices.Equal(q.Turns[0], all[0].Turns[0]) {
		t.Errorf("prefix %s, turns %s", q.Prefix, q.Turns)
	}
	var roles []string
	for _, m := range q.Messages {
		roles = append(roles, m.Role)
	}
	if fmt.Sprint(roles) != "[user assistant user]" {
		t.Errorf("roles: %v", roles)
	}
	if r := q.Results(); len(r) != 2 || r[0].Text != "20 °C" || r[0].Name != "weather" || r[0].Failed {
		t.Errorf("results: %+v", r)
	}
}
