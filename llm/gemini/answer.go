package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// chunk is one event of a stream, as much of it as is read.
type chunk struct {
	Candidates []struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata *tokens         `json:"usageMetadata"`
	Error         json.RawMessage `json:"error"`
}

// tokens is the usage of the whole request so far.
type tokens struct {
	Prompt        int64 `json:"promptTokenCount"`
	ToolUsePrompt int64 `json:"toolUsePromptTokenCount"`
	Cached        int64 `json:"cachedContentTokenCount"`
	Candidates    int64 `json:"candidatesTokenCount"`
	Thoughts      int64 `json:"thoughtsTokenCount"`
}

// answer gathers what the end of a stream depends on.
type answer struct {
	ids     *wire.IDs
	calls   bool
	blocked bool
	finish  string
}

// take returns the events of a chunk. It never ends the answer: some models send STOP in every chunk.
func (a *answer) take(data []byte) ([]llm.Event, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, malformed(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return nil, midway(c.Error)
	}
	if c.PromptFeedback.BlockReason != "" {
		a.blocked = true
	}
	var events []llm.Event
	if len(c.Candidates) > 0 {
		first := &c.Candidates[0]
		for _, p := range first.Content.Parts {
			if p != nil {
				events = append(events, a.part(p)...)
			}
		}
		if first.FinishReason != "" && first.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			a.finish = first.FinishReason
		}
	}
	if c.UsageMetadata == nil {
		return events, nil
	}
	usage, err := c.UsageMetadata.usage()
	if err != nil {
		return events, err
	}
	return append(events, llm.Event{Usage: usage}), nil
}

func (t *tokens) usage() (*llm.Usage, error) {
	if err := wire.CheckTokens(provider, t.Prompt, t.ToolUsePrompt, t.Cached, t.Candidates, t.Thoughts); err != nil {
		return nil, err
	}
	return &llm.Usage{
		Input:     int(t.Prompt + t.ToolUsePrompt),
		CacheRead: int(t.Cached),
		Output:    int(t.Candidates + t.Thoughts),
	}, nil
}

// part returns the events of a part: its text, thought or call, then its signature.
func (a *answer) part(p *part) []llm.Event {
	var events []llm.Event
	s := signature{Signature: p.ThoughtSignature}
	switch text := p.text(); {
	case p.FunctionCall != nil:
		a.calls, s.Call = true, true
		events = append(events, llm.Event{Call: a.call(p.FunctionCall)})
	case p.Thought:
		s.Thought, s.Text = true, text
		if text != "" {
			events = append(events, llm.Event{Thought: text})
		}
	case text != "":
		s.Text = text
		events = append(events, llm.Event{Text: text})
	}
	if s.Signature == "" {
		return events
	}
	data, err := json.Marshal(s)
	if err != nil {
		return events // strings always marshal
	}
	return append(events, llm.Event{State: &llm.State{Owner: provider, Data: data}})
}

func (a *answer) call(f *functionCall) *llm.Call {
	args := string(f.Args)
	if args == "null" {
		args = ""
	}
	c := &llm.Call{ID: a.ids.Unique(f.ID), Name: f.Name}
	c.Args, c.Raw = wire.Args(args)
	return c
}

// reason returns why the answer ended. It fails if the stream was cut, or if the model's call was not valid.
func (a *answer) reason() (llm.StopReason, error) {
	switch a.finish {
	case "":
		if !a.blocked {
			return "", &llm.Error{Kind: llm.Cut, Provider: provider, Message: "the stream ended before its answer did"}
		}
		return llm.StopRefused, nil
	case "MAX_TOKENS":
		return llm.StopLength, nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.StopRefused, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return "", &llm.Error{Kind: llm.Malformed, Provider: provider, Message: fmt.Sprintf("the model's tool call is not valid (%s)", a.finish)}
	}
	if a.calls {
		return llm.StopCalls, nil
	}
	return llm.StopEnd, nil
}
