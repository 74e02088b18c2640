package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// chatParams writes r as a request of Chat Completions.
//
// The limit of the answer is max_completion_tokens at OpenAI and Azure, whose reasoning models take no other, and
// max_tokens everywhere else: that is the one that every compatible server knows. prompt_cache_key goes to OpenAI
// alone, since some compatible servers refuse fields that they do not know.
func chatParams(c *client, r *llm.Request) (*openai.ChatCompletionNewParams, error) {
	p := &openai.ChatCompletionNewParams{
		Model:         c.model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	switch {
	case r.MaxTokens <= 0:
	case c.host == compatible:
		p.MaxTokens = param.NewOpt(int64(r.MaxTokens))
	default:
		p.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
	}
	if c.host == vendor {
		p.PromptCacheKey = cacheKey(r)
	}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	for _, m := range wire.Messages(r.Messages) {
		if m.Role == llm.Assistant {
			p.Messages = append(p.Messages, chatAssistant(m)...)
		} else {
			p.Messages = append(p.Messages, chatUser(m)...)
		}
	}
	for _, t := range r.Tools {
		schema, err := parameters(&t)
		if err != nil {
			return nil, err
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	return p, nil
}

// chatUser writes the results first: they must follow the calls at once.
func chatUser(m llm.Message) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			out = append(out, openai.ToolMessage(p.Result.Text, p.Result.ID))
		case p.Text != "":
			texts = append(texts, p.Text)
		}
	}
	if len(texts) > 0 {
		out = append(out, openai.UserMessage(strings.Join(texts, "\n\n")))
	}
	return out
}

func chatAssistant(m llm.Message) []openai.ChatCompletionMessageParamUnion {
	a := &openai.ChatCompletionAssistantMessageParam{}
	var text string
	for _, p := range m.Parts {
		text += p.Text
		if p.Call != nil {
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: p.Call.ID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: p.Call.Name, Arguments: string(p.Call.Args)},
				}})
		}
	}
	if text != "" {
		a.Content.OfString = param.NewOpt(text)
	}
	if text == "" && len(a.ToolCalls) == 0 {
		return nil
	}
	return []openai.ChatCompletionMessageParamUnion{{OfAssistant: a}}
}

// parameters returns a tool's schema. Below the first level its bytes stay as they are.
func parameters(t *llm.Tool) (map[string]any, error) {
	if len(t.Input) == 0 {
		return map[string]any{"type": "object", "properties": struct{}{}}, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(t.Input, &fields); err != nil || fields == nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Provider: provider, Err: err,
			Message: fmt.Sprintf("the schema of tool %q is not a JSON object", t.Name)}
	}
	schema := make(map[string]any, len(fields))
	for name, value := range fields {
		schema[name] = value
	}
	return schema, nil
}

// cacheKey returns the request's, as much of it as OpenAI takes.
func cacheKey(r *llm.Request) param.Opt[string] {
	if r.CacheKey == "" {
		return param.Opt[string]{}
	}
	return param.NewOpt(strings.ToValidUTF8(r.CacheKey[:min(len(r.CacheKey), 64)], ""))
}
