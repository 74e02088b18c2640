package openai

import (
	"encoding/json"
	"fmt"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// chunk is one event of Chat Completions, or the whole answer of a server that does not stream.
type chunk struct {
	Choices []struct {
		Index        int    `json:"index"`
		Delta        delta  `json:"delta"`
		Message      *delta `json:"message"` // of a whole answer
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *tokens         `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   json.RawMessage `json:"content"`
	Refusal   json.RawMessage `json:"refusal"`
	Reasoning json.RawMessage `json:"reasoning"`         // of OpenRouter and others
	Thinking  json.RawMessage `json:"reasoning_content"` // of vLLM, llama.cpp and others
	ToolCalls []callDelta     `json:"tool_calls"`
}

type chatReader struct {
	ids     *wire.IDs
	calls   drafts
	usage   *llm.Usage
	reason  string // of the stop
	refused bool
	begun   bool // something of an answer has come
}

func (c *chatReader) read(data []byte) ([]llm.Event, error) {
	if string(data) == "[DONE]" {
		if !c.begun {
			return nil, nil // an empty event
		}
		return c.finish(), nil
	}
	var k chunk
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, malformed(data, err)
	}
	if len(k.Error) > 0 && string(k.Error) != "null" {
		return nil, midway(k.Error)
	}
	if k.Usage != nil {
		usage, err := k.Usage.usage()
		if err != nil {
			return nil, err
		}
		c.usage = usage
	}
	var events []llm.Event
	for _, choice := range k.Choices {
		if choice.Index != 0 {
			continue
		}
		c.begun = true
		d := &choice.Delta
		if choice.Message != nil {
			d = choice.Message
		}
		thought := words(d.Thinking)
		if thought == "" { // some servers send both
			thought = words(d.Reasoning)
		}
		if thought != "" {
			events = append(events, llm.Event{Thought: thought})
		}
		refusal := words(d.Refusal)
		c.refused = c.refused || refusal != ""
		if text := words(d.Content) + refusal; text != "" {
			events = append(events, llm.Event{Text: text})
		}
		for _, d := range d.ToolCalls {
			c.calls.add(&d)
		}
		if len(c.calls) > maxDrafts {
			return nil, &llm.Error{Kind: llm.Malformed, Provider: provider, Message: fmt.Sprintf("the answer calls more than %d tools", maxDrafts)}
		}
		if choice.FinishReason != "" {
			c.reason = choice.FinishReason
		}
	}
	return events, nil
}

// end accepts a stream without [DONE] as complete if it had a stop reason.
func (c *chatReader) end() []llm.Event {
	if c.reason == "" {
		return nil
	}
	return c.finish()
}

// finish yields the calls, which are complete only now. If there are calls, the stop reason is StopCalls, because some
// servers say "stop" instead.
func (c *chatReader) finish() []llm.Event {
	var events []llm.Event
	stop := llm.StopEnd
	for _, d := range c.calls {
		if d.name == "" {
			continue // cut off before it had one
		}
		stop = llm.StopCalls
		events = append(events, llm.Event{Call: newCall(c.ids, d.id, d.name, string(d.args))})
	}
	switch {
	case c.reason == "length":
		stop = llm.StopLength
	case c.reason == "content_filter", c.refused:
		stop = llm.StopRefused
	}
	if c.usage != nil {
		events = append(events, llm.Event{Usage: c.usage})
	}
	return append(events, llm.Event{Stop: stop})
}
