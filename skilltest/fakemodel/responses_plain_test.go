package fakemodel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// responsesAnswer is the API reference's Response, with the fields that the server sends.
type responsesAnswer struct {
	ID                string           `json:"id"`
	Object            string           `json:"object"`
	CreatedAt         int              `json:"created_at"`
	Status            string           `json:"status"`
	Model             string           `json:"model"`
	Output            []responsesItem  `json:"output"`
	Error             *openaiError     `json:"error"`
	IncompleteDetails *responsesReason `json:"incomplete_details"`
	Instructions      json.RawMessage  `json:"instructions"`
	Metadata          json.RawMessage  `json:"metadata"`
	ParallelToolCalls bool             `json:"parallel_tool_calls"`
	ToolChoice        string           `json:"tool_choice"`
	Tools             []any            `json:"tools"`
	Temperature       float64          `json:"temperature"`
	TopP              float64          `json:"top_p"`
	Usage             *responsesUsage  `json:"usage"`
}

type responsesReason struct {
	Reason string `json:"reason"`
}

type responsesUsage struct {
	Input         int          `json:"input_tokens"`
	Output        int          `json:"output_tokens"`
	Total         int          `json:"total_tokens"`
	InputDetails  tokenDetails `json:"input_tokens_details"`
	OutputDetails tokenDetails `json:"output_tokens_details"`
}

// responsesItem is a message, a reasoning or a call.
type responsesItem struct {
	Type             string          `json:"type"`
	ID               string          `json:"id"`
	Status           string          `json:"status"`
	Role             string          `json:"role"`
	Content          []responsesPart `json:"content"`
	Summary          []responsesPart `json:"summary"`
	EncryptedContent string          `json:"encrypted_content"`
	CallID           string          `json:"call_id"`
	Name             string          `json:"name"`
	Arguments        string          `json:"arguments"`
}

type responsesPart struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Refusal     string `json:"refusal"`
	Annotations []any  `json:"annotations"`
	Logprobs    []any  `json:"logprobs"`
}

// responsesEvent is one event of a stream.
type responsesEvent struct {
	Type           string           `json:"type"`
	SequenceNumber int              `json:"sequence_number"`
	Response       *responsesAnswer `json:"response"`
	OutputIndex    int              `json:"output_index"`
	ContentIndex   int              `json:"content_index"`
	SummaryIndex   int              `json:"summary_index"`
	ItemID         string           `json:"item_id"`
	Item           *responsesItem   `json:"item"`
	Part           *responsesPart   `json:"part"`
	Delta          string           `json:"delta"`
	Text           string           `json:"text"`
	Refusal        string           `json:"refusal"`
	Name           string           `json:"name"`
	Arguments      string           `json:"arguments"`
	Code           string           `json:"code"` // of an error, as the next two
	Message        string           `json:"message"`
	Param          json.RawMessage  `json:"param"`
}

// askResponses sends a request in the form of the API reference.
func askResponses(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	type object = map[string]any
	items := []object{{"role": "user", "content": tk.prompt}}
	for _, c := range tk.calls {
		items = append(items, object{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
	}
	for _, r := range tk.results {
		items = append(items, object{"type": "function_call_output", "call_id": r.ID, "output": r.Text})
	}
	ask := &plainRequest{url: s.URL + "/v1/responses", stream: stream, body: object{"model": "fake-model", "max_output_tokens": 100,
		"instructions": "Be brief.", "store": false, "stream": stream, "input": items,
		"tools": []object{{"type": "function", "name": "weather", "description": "Tells the weather.", "parameters": weather, "strict": false}}}}
	var r responsesAnswer
	if !stream {
		err := askPlain(ctx, ask, func(data []byte) error { return strictly(data, &r) })
		return r.said(), err
	}
	read := responsesStreamReader{}
	err := askPlain(ctx, ask, func(data []byte) error {
		var e responsesEvent
		if err := strictly(data, &e); err != nil {
			return err
		}
		return read.take(&e)
	})
	if err == nil && read.whole == nil {
		err = errors.New("the stream ended early")
	}
	if err != nil {
		return said{}, err
	}
	return read.whole.said(), nil
}

func (r *responsesAnswer) said() said {
	out := said{Stop: r.Status}
	if r.IncompleteDetails != nil {
		out.Stop = cmp.Or(r.IncompleteDetails.Reason, r.Status)
	}
	if u := r.Usage; u != nil {
		out.Usage = Usage{Input: u.Input, CacheRead: u.InputDetails.Cached, Output: u.Output}
	}
	for _, item := range r.Output {
		for _, p := range item.Content {
			out.Text += p.Text
		}
		if item.Type == "function_call" {
			out.Calls = append(out.Calls, Call{ID: item.CallID, Name: item.Name, Args: item.Arguments})
		}
	}
	return out
}

// responsesStreamReader checks that the events of a stream follow each other, and that the pieces of each item are what
// its end and the whole response say.
type responsesStreamReader struct {
	events int
	open   *responsesItem // between its added and its done
	pieces string         // of the open item
	items  []responsesItem
	whole  *responsesAnswer // nil before the last event
}

func (s *responsesStreamReader) take(e *responsesEvent) error {
	if e.Type == "error" {
		return errors.New(e.Message)
	}
	if e.SequenceNumber != s.events || s.whole != nil {
		return fmt.Errorf("got event %d with the number %d, after the end: %t", s.events, e.SequenceNumber, s.whole != nil)
	}
	s.events++
	switch e.Type {
	case "response.created", "response.in_progress":
		return nil
	case "response.completed", "response.incomplete":
		s.whole = e.Response
		if len(s.items) != len(s.whole.Output) || len(s.items) > 0 && !reflect.DeepEqual(s.items, s.whole.Output) {
			return fmt.Errorf("the items are %+v, and the whole response has %+v", s.items, s.whole.Output)
		}
		return nil
	case "response.output_item.added":
		if s.open != nil || e.OutputIndex != len(s.items) {
			return fmt.Errorf("got item %d, want %d, with another open: %t", e.OutputIndex, len(s.items), s.open != nil)
		}
		s.open, s.pieces = e.Item, ""
		return nil
	}
	if s.open == nil || e.OutputIndex != len(s.items) || e.ItemID != s.open.ID && e.Item == nil {
		return fmt.Errorf("%s of item %d %q, which is not open", e.Type, e.OutputIndex, e.ItemID)
	}
	return s.within(e)
}

// within reads an event of the open item.
func (s *responsesStreamReader) within(e *responsesEvent) error {
	deltas := map[string]string{"response.output_text.delta": "message", "response.refusal.delta": "message",
		"response.reasoning_summary_text.delta": "reasoning", "response.function_call_arguments.delta": "function_call"}
	if kind := deltas[e.Type]; kind != "" {
		if s.open.Type != kind {
			return fmt.Errorf("%s in an item of type %s", e.Type, s.open.Type)
		}
		s.pieces += e.Delta
		return nil
	}
	var all string
	switch e.Type {
	case "response.content_part.added":
		return nil
	case "response.output_text.done", "response.refusal.done", "response.function_call_arguments.done":
		all = e.Text + e.Refusal + e.Arguments
	case "response.content_part.done":
		all = e.Part.Text + e.Part.Refusal
	case "response.output_item.done":
		for _, p := range append(e.Item.Content, e.Item.Summary...) {
			all += p.Text + p.Refusal
		}
		all += e.Item.Arguments
		s.items, s.open = append(s.items, *e.Item), nil
	default:
		return fmt.Errorf("unknown event %q", e.Type)
	}
	if all != s.pieces {
		return fmt.Errorf("%s has %q, and the pieces before it are %q", e.Type, all, s.pieces)
	}
	return nil
}
