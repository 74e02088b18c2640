package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// chatRequest is a request of Chat Completions, with the fields that every compatible server knows.
type chatRequest struct {
	Messages            []chatMessage `json:"messages"`
	Model               string        `json:"model"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	PromptCacheKey      string        `json:"prompt_cache_key,omitempty"`
	Stream              bool          `json:"stream"`
	StreamOptions       streamOptions `json:"stream_options"`
	Tools               []chatTool    `json:"tools,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or a list of chatPart
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// chatPart is a piece of the content of the user.
type chatPart struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
	File     *file     `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string         `json:"type"`
	Function chatDefinition `json:"function"`
}

type chatDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// newChatRequest returns r as a request of Chat Completions.
//
// The limit of the answer is max_completion_tokens for OpenAI and Azure, whose reasoning models accept no other, and
// max_tokens for all others, because every compatible server knows it. prompt_cache_key is sent to OpenAI only, because
// some compatible servers reject unknown fields.
func (c *client) newChatRequest(r *llm.Request) (*chatRequest, error) {
	q := &chatRequest{Model: c.model, Messages: []chatMessage{}, Stream: true, StreamOptions: streamOptions{IncludeUsage: true},
		ReasoningEffort: r.Effort.Level}
	if c.host == compatible {
		q.MaxTokens = max(0, r.MaxTokens)
	} else {
		q.MaxCompletionTokens = max(0, r.MaxTokens)
	}
	if c.host == vendor {
		q.PromptCacheKey = cacheKey(r)
	}
	if r.System != "" {
		q.Messages = append(q.Messages, chatMessage{Role: "system", Content: r.System})
	}
	for _, m := range wire.Messages(r.Messages) {
		if m.Role == llm.Assistant {
			q.Messages = append(q.Messages, chatAssistant(m)...)
		} else {
			said, err := c.chatUser(m)
			if err != nil {
				return nil, err
			}
			q.Messages = append(q.Messages, said...)
		}
	}
	for _, t := range r.Tools {
		parameters, err := schema(&t)
		if err != nil {
			return nil, err
		}
		q.Tools = append(q.Tools, chatTool{"function", chatDefinition{t.Name, t.Description, parameters}})
	}
	return q, nil
}

// chatUser puts the results first, because they must directly follow the calls. Results are texts alone: what they show follows them.
func (c *client) chatUser(m llm.Message) ([]chatMessage, error) {
	var out []chatMessage
	var shown, parts []chatPart
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			out = append(out, chatMessage{Role: "tool", Content: p.Result.Text, ToolCallID: p.Result.ID})
			for i := range p.Result.Media {
				part, err := c.chatMedia(&p.Result.Media[i])
				if err != nil {
					return nil, err
				}
				shown = append(shown, chatPart{Type: "text", Text: "Of the result of " + p.Result.Name + ":"}, part)
			}
		case p.Media != nil:
			part, err := c.chatMedia(p.Media)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		case p.Text != "":
			texts = append(texts, p.Text)
			parts = append(parts, chatPart{Type: "text", Text: p.Text})
		}
	}
	parts = append(shown, parts...)
	switch {
	case len(parts) > len(texts):
		out = append(out, chatMessage{Role: "user", Content: parts})
	case len(texts) > 0: // in the form that every server knows
		out = append(out, chatMessage{Role: "user", Content: strings.Join(texts, "\n\n")})
	}
	return out, nil
}

func (c *client) chatMedia(m *llm.Media) (chatPart, error) {
	switch {
	case !m.Document():
		return chatPart{Type: "image_url", ImageURL: &imageURL{dataURL(m)}}, nil
	case c.files:
		return chatPart{Type: "file", File: &file{fileName(m), dataURL(m)}}, nil
	}
	return chatPart{}, &llm.Error{Kind: llm.BadRequest, Provider: provider, Message: fmt.Sprintf("%s cannot be sent: Chat Completions of this server have no PDF documents", m)}
}

func chatAssistant(m llm.Message) []chatMessage {
	a := chatMessage{Role: "assistant"}
	var text string
	for _, p := range m.Parts {
		text += p.Text
		if p.Call != nil {
			a.ToolCalls = append(a.ToolCalls, chatCall{p.Call.ID, "function", chatFunction{p.Call.Name, string(p.Call.Args)}})
		}
	}
	if text != "" {
		a.Content = text
	}
	if text == "" && len(a.ToolCalls) == 0 {
		return nil
	}
	return []chatMessage{a}
}
