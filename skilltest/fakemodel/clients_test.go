package fakemodel

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// said is an answer as a client decoded it.
type said struct {
	Text  string
	Calls []Call
	Stop  string
	Usage Usage
}

// talk is one request of a client: the user's text, one tool, and the calls and results so far.
type talk struct {
	prompt  string
	calls   []Call
	results []Result
}

// The clients check what the server sends: each decodes the answers of its wire, streaming or not, strictly according to the
// published references.
var clients = map[Wire]func(context.Context, *Server, talk, bool) (said, error){
	Anthropic: askAnthropic,
	Responses: askResponses,
	Chat:      askChat,
	Gemini:    askGemini,
}

func wires() []Wire { return []Wire{Anthropic, Responses, Chat, Gemini} }

var weather = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}

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
