//go:build !sdk

package fakemodel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// chatAnswer is an answer of Chat Completions: a whole one or one stream event.
type chatAnswer struct {
	Choices []struct {
		Message      chatMessage
		Delta        chatMessage
		FinishReason string `json:"finish_reason"`
	}
	Usage *struct {
		PromptTokens        int `json:"prompt_tokens"`
		CompletionTokens    int `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *struct{ Message string }
}

type chatMessage struct {
	Content   string
	Refusal   string
	ToolCalls []struct {
		Index    int
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// askChat sends the SDK's request without the SDK.
func askChat(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	type object = map[string]any
	messages := []object{{"role": "system", "content": "Be brief."}, {"role": "user", "content": tk.prompt}}
	if tk.calls != nil {
		var calls []object
		for _, c := range tk.calls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
		}
		messages = append(messages, object{"role": "assistant", "tool_calls": calls})
	}
	for _, r := range tk.results {
		messages = append(messages, object{"role": "tool", "tool_call_id": r.ID, "content": r.Text})
	}
	ask := object{"model": "fake-model", "max_completion_tokens": 100, "messages": messages,
		"tools": []object{{"type": "function", "function": object{"name": "weather", "description": "Tells the weather.", "parameters": weather}}}}
	if stream {
		ask["stream"], ask["stream_options"] = true, object{"include_usage": true}
	}
	body, err := (&plainRequest{url: s.URL + "/v1/chat/completions", body: ask}).post(ctx)
	if err != nil {
		return said{}, err
	}
	defer body.Close()
	if stream {
		return readChatStream(body)
	}
	var a chatAnswer
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		return said{}, err
	}
	out := said{}
	return out, out.take(&a)
}

func readChatStream(r io.Reader) (said, error) {
	out := said{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return out, nil
		}
		var a chatAnswer
		if err := json.Unmarshal([]byte(data), &a); err != nil {
			return out, err
		}
		if err := out.take(&a); err != nil {
			return out, err
		}
	}
	if err := lines.Err(); err != nil {
		return out, err
	}
	return out, errors.New("the stream ended early")
}

// take adds an answer or a part of one.
func (s *said) take(a *chatAnswer) error {
	if a.Error != nil {
		return errors.New(a.Error.Message)
	}
	if u := a.Usage; u != nil {
		s.Usage = Usage{Input: u.PromptTokens, CacheRead: u.PromptTokensDetails.CachedTokens, Output: u.CompletionTokens}
	}
	for _, c := range a.Choices {
		for _, m := range []chatMessage{c.Message, c.Delta} {
			s.Text += m.Content
			for _, call := range m.ToolCalls {
				switch {
				case call.ID != "":
					s.Calls = append(s.Calls, Call{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments})
				case len(s.Calls) == 0:
					return fmt.Errorf("got a delta of call %d, which has not started", call.Index)
				default:
					s.Calls[len(s.Calls)-1].Args += call.Function.Arguments
				}
			}
		}
		if c.FinishReason != "" {
			s.Stop = c.FinishReason
		}
	}
	return nil
}
