package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// answer puts the events of a stream together.
type answer struct {
	blocks map[int64]*block
	ids    *wire.IDs
	usage  sdk.MessageDeltaUsage
	stop   string
	calls  bool
}

// block is a content block that is coming in.
type block struct {
	kind, id, name, data string
	input                strings.Builder // the text of a call's arguments
	thinking, signature  strings.Builder
}

// take returns the events of an event of the stream; the last one of an answer has Stop set. It fails if a count of
// tokens is invalid.
func (a *answer) take(e sdk.MessageStreamEventUnion) ([]llm.Event, error) {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		a.usage = sdk.MessageDeltaUsage{InputTokens: u.InputTokens, CacheReadInputTokens: u.CacheReadInputTokens,
			CacheCreationInputTokens: u.CacheCreationInputTokens, OutputTokens: u.OutputTokens}
		return a.usageEvents()
	case "content_block_start":
		return a.start(e), nil
	case "content_block_delta":
		return a.delta(e), nil
	case "content_block_stop":
		return a.end(e.Index), nil
	case "message_delta":
		a.stop = string(e.Delta.StopReason)
		a.count(e.Usage)
		return a.usageEvents()
	case "message_stop":
		return []llm.Event{{Stop: a.reason()}}, nil
	}
	return nil, nil // ping, and what the API may add
}

func (a *answer) start(e sdk.MessageStreamEventUnion) []llm.Event {
	c := e.ContentBlock
	b := &block{kind: c.Type, id: c.ID, name: c.Name, data: c.Data}
	b.thinking.WriteString(c.Thinking)
	b.signature.WriteString(c.Signature)
	a.blocks[e.Index] = b
	if input := c.JSON.Input.Raw(); c.Type == "tool_use" && input != "{}" && input != "null" {
		b.input.WriteString(input)
	}
	if c.Type == "text" && c.Text != "" {
		return []llm.Event{{Text: c.Text}}
	}
	return nil
}

func (a *answer) delta(e sdk.MessageStreamEventUnion) []llm.Event {
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
	}
	return nil
}

// end returns what a block was, when it is whole.
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

// count takes the numbers that a message_delta has; they stand for the whole message.
func (a *answer) count(u sdk.MessageDeltaUsage) {
	for _, n := range []struct {
		to    *int64
		from  int64
		valid bool
	}{
		{&a.usage.InputTokens, u.InputTokens, u.JSON.InputTokens.Valid()},
		{&a.usage.CacheReadInputTokens, u.CacheReadInputTokens, u.JSON.CacheReadInputTokens.Valid()},
		{&a.usage.CacheCreationInputTokens, u.CacheCreationInputTokens, u.JSON.CacheCreationInputTokens.Valid()},
		{&a.usage.OutputTokens, u.OutputTokens, u.JSON.OutputTokens.Valid()},
	} {
		if n.valid {
			*n.to = n.from
		}
	}
}

// usageEvents adds the cached tokens, which the API counts apart, to the input.
func (a *answer) usageEvents() ([]llm.Event, error) {
	u := a.usage
	if err := wire.CheckTokens(provider, u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens); err != nil {
		return nil, err
	}
	return []llm.Event{{Usage: &llm.Usage{
		Input:      int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		CacheRead:  int(u.CacheReadInputTokens),
		CacheWrite: int(u.CacheCreationInputTokens),
		Output:     int(u.OutputTokens),
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
