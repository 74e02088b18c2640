package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// event is one event of a stream. Which fields are there depends on the type.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Usage tokens `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
	} `json:"content_block"`
	Delta struct {
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage tokens `json:"usage"`
}

// known are the types of events that are read.
var known = []string{"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
	"message_stop", "error"}

// tokens is the usage of the whole message so far. A missing number changes nothing.
type tokens struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

// answer turns the events of one stream into llm.Events.
type answer struct {
	blocks map[int64]*part
	ids    *wire.IDs
	usage  [4]int64 // input, read from the cache, written to it, output
	stop   string
	calls  bool
}

// part is a content block that is coming in.
type part struct {
	kind, id, name, data string
	input                strings.Builder // the text of a call's arguments
	thinking, signature  strings.Builder
}

// take returns the events of an event of the stream; the last one of an answer has Stop set.
func (a *answer) take(data []byte) ([]llm.Event, error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil && (slices.Contains(known, e.Type) || !json.Valid(data)) {
		return nil, malformed(err)
	}
	switch e.Type {
	case "message_start":
		return a.count(&e.Message.Usage)
	case "content_block_start":
		return a.start(&e), nil
	case "content_block_delta":
		return a.delta(&e), nil
	case "content_block_stop":
		return a.end(e.Index), nil
	case "message_delta":
		a.stop = e.Delta.StopReason
		return a.count(&e.Usage)
	case "message_stop":
		return []llm.Event{{Stop: a.reason()}}, nil
	case "error":
		return nil, midway(data)
	}
	return nil, nil // ping, and events that the API may add
}

// malformed returns the error of an event that is not what the API documents.
func malformed(err error) error {
	return &llm.Error{Kind: llm.Malformed, Provider: provider, Err: err,
		Message: wire.Clip(fmt.Sprintf("an event of the stream cannot be read: %v", err))}
}

func (a *answer) start(e *event) []llm.Event {
	c := &e.ContentBlock
	b := &part{kind: c.Type, id: c.ID, name: c.Name, data: c.Data}
	b.thinking.WriteString(c.Thinking)
	b.signature.WriteString(c.Signature)
	a.blocks[e.Index] = b
	if input := string(c.Input); c.Type == "tool_use" && input != "{}" && input != "null" {
		b.input.WriteString(input)
	}
	if c.Type == "text" && c.Text != "" {
		return []llm.Event{{Text: c.Text}}
	}
	return thought(c.Thinking)
}

// thought returns the event of a piece of what the model thinks.
func thought(text string) []llm.Event {
	if text == "" {
		return nil
	}
	return []llm.Event{{Thought: text}}
}

func (a *answer) delta(e *event) []llm.Event {
	b := a.blocks[e.Index]
	if b == nil {
		return nil
	}
	switch {
	case b.kind == "text" && e.Delta.Text != "":
		return []llm.Event{{Text: e.Delta.Text}}
	case b.kind == "tool_use":
		b.input.WriteString(e.Delta.PartialJSON)
	case b.kind == "thinking":
		b.thinking.WriteString(e.Delta.Thinking)
		b.signature.WriteString(e.Delta.Signature)
		return thought(e.Delta.Thinking)
	}
	return nil
}

// end returns what a block was, once it is complete.
func (a *answer) end(index int64) []llm.Event {
	b := a.blocks[index]
	if b == nil {
		return nil
	}
	delete(a.blocks, index)
	switch b.kind {
	case "tool_use":
		a.calls = true
		c := &llm.Call{ID: a.ids.Unique(b.id), Name: b.name}
		c.Args, c.Raw = wire.Args(b.input.String())
		return []llm.Event{{Call: c}}
	case "thinking", "redacted_thinking":
		data, err := json.Marshal(thoughtState{Type: b.kind, Thinking: b.thinking.String(), Signature: b.signature.String(), Data: b.data})
		if err == nil { // strings alone
			return []llm.Event{{State: &llm.State{Owner: provider, Data: data}}}
		}
	}
	return nil
}

// count takes the numbers that u has. The API counts cached tokens apart; llm.Usage adds them to the input.
func (a *answer) count(u *tokens) ([]llm.Event, error) {
	for i, n := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		if n != nil {
			a.usage[i] = *n
		}
	}
	if err := wire.CheckTokens(provider, a.usage[:]...); err != nil {
		return nil, err
	}
	n := a.usage
	return []llm.Event{{Usage: &llm.Usage{
		Input:      int(n[0] + n[1] + n[2]),
		CacheRead:  int(n[1]),
		CacheWrite: int(n[2]),
		Output:     int(n[3]),
	}}}, nil
}

func (a *answer) reason() llm.StopReason {
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefused
	}
	if a.calls {
		return llm.StopCalls
	}
	return llm.StopEnd
}
