package fakemodel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// anthropicMessage is the API reference's Message, with the fields that the server sends.
type anthropicMessage struct {
	ID           string              `json:"id"`
	Type         string              `json:"type"`
	Role         string              `json:"role"`
	Model        string              `json:"model"`
	Content      []anthropicContent  `json:"content"`
	StopReason   string              `json:"stop_reason"`
	StopSequence string              `json:"stop_sequence"`
	Usage        anthropicUsageCount `json:"usage"`
}

type anthropicContent struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type anthropicUsageCount struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

// anthropicEvent is one event of a stream.
type anthropicEvent struct {
	Type         string            `json:"type"`
	Message      *anthropicMessage `json:"message"`
	Index        int               `json:"index"`
	ContentBlock *anthropicContent `json:"content_block"`
	Delta        struct {
		Type         string `json:"type"`
		Text         string `json:"text"`
		Thinking     string `json:"thinking"`
		Signature    string `json:"signature"`
		PartialJSON  string `json:"partial_json"`
		StopReason   string `json:"stop_reason"`
		StopSequence string `json:"stop_sequence"`
	} `json:"delta"`
	Usage *struct {
		Output int `json:"output_tokens"`
	} `json:"usage"`
	Error     *struct{ Type, Message string } `json:"error"`
	RequestID string                          `json:"request_id"`
}

// askAnthropic sends a request in the form of the API reference.
func askAnthropic(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	type object = map[string]any
	messages := []object{{"role": "user", "content": []object{{"type": "text", "text": tk.prompt}}}}
	var calls, results []object
	for _, c := range tk.calls {
		calls = append(calls, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	for _, r := range tk.results {
		results = append(results, object{"type": "tool_result", "tool_use_id": r.ID, "is_error": r.Failed,
			"content": []object{{"type": "text", "text": r.Text}}})
	}
	if calls != nil {
		messages = append(messages, object{"role": "assistant", "content": calls}, object{"role": "user", "content": results})
	}
	body := object{"model": "fake-model", "max_tokens": 100, "system": []object{{"type": "text", "text": "Be brief."}}, "messages": messages,
		"tools": []object{{"name": "weather", "description": "Tells the weather.", "input_schema": weather}}}
	var m anthropicMessage
	if !stream {
		err := askPlain(ctx, &plainRequest{url: s.URL + "/v1/messages", body: body}, func(data []byte) error { return strictly(data, &m) })
		return m.said(), err
	}
	body["stream"] = true
	ended := false
	err := askPlain(ctx, &plainRequest{url: s.URL + "/v1/messages", body: body, stream: true}, func(data []byte) error {
		var e anthropicEvent
		if err := strictly(data, &e); err != nil {
			return err
		}
		ended = e.Type == "message_stop"
		return m.take(&e)
	})
	if err == nil && !ended {
		err = errors.New("the stream ended early")
	}
	return m.said(), err
}

// take adds one stream event to the message.
func (m *anthropicMessage) take(e *anthropicEvent) error {
	switch e.Type {
	case "message_start":
		*m = *e.Message
	case "content_block_start":
		if e.Index != len(m.Content) {
			return fmt.Errorf("got the start of block %d, want %d", e.Index, len(m.Content))
		}
		if e.ContentBlock.Type == "tool_use" {
			e.ContentBlock.Input = nil // it arrives in pieces
		}
		m.Content = append(m.Content, *e.ContentBlock)
	case "content_block_delta":
		if e.Index != len(m.Content)-1 {
			return fmt.Errorf("got a delta of block %d, want %d", e.Index, len(m.Content)-1)
		}
		b := &m.Content[e.Index]
		want := map[string]string{"text": "text_delta", "tool_use": "input_json_delta", "thinking": "thinking_delta"}[b.Type]
		if e.Delta.Type != want && !(b.Type == "thinking" && e.Delta.Type == "signature_delta") {
			return fmt.Errorf("got a %s in a block of type %s", e.Delta.Type, b.Type)
		}
		b.Text += e.Delta.Text
		b.Thinking += e.Delta.Thinking
		b.Signature += e.Delta.Signature
		b.Input = append(b.Input, e.Delta.PartialJSON...)
	case "message_delta":
		m.StopReason, m.Usage.Output = e.Delta.StopReason, e.Usage.Output
	case "error":
		return errors.New(e.Error.Message)
	case "content_block_stop", "message_stop", "ping":
	default:
		return fmt.Errorf("unknown event %q", e.Type)
	}
	return nil
}

func (m *anthropicMessage) said() said {
	u := m.Usage
	out := said{Stop: m.StopReason, Usage: Usage{Input: u.Input + u.CacheRead + u.CacheWrite, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, Output: u.Output}}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			out.Text += b.Text
		case "tool_use":
			out.Calls = append(out.Calls, Call{ID: b.ID, Name: b.Name, Args: cmp.Or(string(b.Input), "{}")})
		}
	}
	return out
}

// The name of each event equals the type in its data: the official SDKs use the name.
func TestAnthropicEventNames(t *testing.T) {
	s := New(t, Step{Text: "Hello.", Thought: "Well.", Calls: []Call{{Name: "look"}}})
	body, err := read(t, s, Anthropic, true)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for text := range bytes.SplitSeq(bytes.TrimSpace(body), []byte("\n\n")) {
		name, data, _ := strings.Cut(string(text), "\ndata: ")
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(data), &e); err != nil || name != "event: "+e.Type {
			t.Errorf("got %s, %v", text, err)
		}
		n++
	}
	if n < 8 {
		t.Errorf("got %d events in %s", n, body)
	}
}
