package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// chatAnswer is the API reference's ChatCompletion or one chunk of it, with the fields that the server sends.
type chatAnswer struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int    `json:"created"`
	Model   string `json:"model"`
	Choices []struct {
		Index        int             `json:"index"`
		Message      *chatMessage    `json:"message"`
		Delta        *chatMessage    `json:"delta"`
		FinishReason string          `json:"finish_reason"`
		Logprobs     json.RawMessage `json:"logprobs"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        int          `json:"prompt_tokens"`
		CompletionTokens    int          `json:"completion_tokens"`
		TotalTokens         int          `json:"total_tokens"`
		PromptTokensDetails tokenDetails `json:"prompt_tokens_details"`
		CompletionDetails   tokenDetails `json:"completion_tokens_details"`
	} `json:"usage"`
	Error *openaiError `json:"error"`
}

type chatMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"` // of compatible servers
	Refusal   string `json:"refusal"`
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type tokenDetails struct {
	Cached    int `json:"cached_tokens"`
	Reasoning int `json:"reasoning_tokens"`
}

type openaiError struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Param   json.RawMessage `json:"param"`
}

// askChat sends a request in the form of the API reference.
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
	out := said{}
	ended := !stream
	err := askPlain(ctx, &plainRequest{url: s.URL + "/v1/chat/completions", body: ask, stream: stream}, func(data []byte) error {
		if string(data) == "[DONE]" {
			ended = true
			return nil
		}
		var a chatAnswer
		if err := strictly(data, &a); err != nil {
			return err
		}
		return out.take(&a)
	})
	if err == nil && !ended {
		err = errors.New("the stream ended early")
	}
	return out, err
}

// take adds an answer or a part of one.
func (s *said) take(a *chatAnswer) error {
	if a.Error != nil {
		return errors.New(a.Error.Message)
	}
	if u := a.Usage; u != nil {
		s.Usage = Usage{Input: u.PromptTokens, CacheRead: u.PromptTokensDetails.Cached, Output: u.CompletionTokens}
	}
	for _, c := range a.Choices {
		for _, m := range []*chatMessage{c.Message, c.Delta} {
			if m == nil {
				continue
			}
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
