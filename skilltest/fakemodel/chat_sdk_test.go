//go:build sdk

package fakemodel

import (
	"context"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

func askChat(ctx context.Context, s *Server, tk talk, stream bool) (said, error) {
	client := openai.NewChatCompletionService(openaiOptions(s)...)
	p := openai.ChatCompletionNewParams{Model: "fake-model", MaxCompletionTokens: param.NewOpt(int64(100)),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage(tk.prompt)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "weather",
			Description: param.NewOpt("Tells the weather."), Parameters: weather})}}
	if tk.calls != nil {
		m := &openai.ChatCompletionAssistantMessageParam{}
		for _, c := range tk.calls {
			m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Args}}})
		}
		p.Messages = append(p.Messages, openai.ChatCompletionMessageParamUnion{OfAssistant: m})
	}
	for _, r := range tk.results {
		p.Messages = append(p.Messages, openai.ToolMessage(r.Text, r.ID))
	}
	c := &openai.ChatCompletion{}
	var err error
	if stream {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
		var acc openai.ChatCompletionAccumulator
		events := client.NewStreaming(ctx, p)
		for events.Next() {
			if !acc.AddChunk(events.Current()) {
				return said{}, errors.New("unexpected chunk")
			}
		}
		c, err = &acc.ChatCompletion, events.Err()
	} else {
		c, err = client.New(ctx, p)
	}
	if err != nil {
		return said{}, err
	}
	if len(c.Choices) != 1 {
		return said{}, fmt.Errorf("%d choices", len(c.Choices))
	}
	m := c.Choices[0].Message
	out := said{Text: m.Content, Stop: c.Choices[0].FinishReason, Usage: Usage{Input: int(c.Usage.PromptTokens),
		CacheRead: int(c.Usage.PromptTokensDetails.CachedTokens), Output: int(c.Usage.CompletionTokens)}}
	for _, call := range m.ToolCalls {
		out.Calls = append(out.Calls, Call{ID: call.ID, Name: call.Function.Name, Args: call.Function.Arguments})
	}
	return out, nil
}
