package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// responsesParams returns r as a request of Responses. The provider stores nothing, so a reasoning model is asked for its
// reasoning in encrypted form, which is sent back to it.
func responsesParams(model string, r *llm.Request) (*responses.ResponseNewParams, error) {
	p := &responses.ResponseNewParams{
		Model: model,
		Store: param.NewOpt(false),
	}
	if key := cacheKey(r); key != "" {
		p.PromptCacheKey = param.NewOpt(key)
	}
	if r.System != "" {
		p.Instructions = param.NewOpt(r.System)
	}
	if r.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(r.MaxTokens))
	}
	thinks := reasons(model)
	if thinks {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	for _, m := range wire.Messages(r.Messages) {
		for _, part := range m.Parts {
			p.Input.OfInputItemList = append(p.Input.OfInputItemList, inputItems(m.Role, part, thinks)...)
		}
	}
	for _, t := range r.Tools {
		object, err := schema(&t)
		if err != nil {
			return nil, err
		}
		parameters, err := fields(object)
		if err != nil {
			return nil, err
		}
		f := &responses.FunctionToolParam{Name: t.Name, Parameters: parameters, Strict: param.NewOpt(false)}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: f})
	}
	return p, nil
}

// inputItems returns one part. Calls have no item id, because it would bind them to reasoning that may be missing.
func inputItems(role llm.Role, p llm.Part, thinks bool) []responses.ResponseInputItemUnionParam {
	switch {
	case p.Text != "" && role == llm.Assistant:
		return []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant)}
	case p.Text != "":
		return []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleUser)}
	case p.Call != nil:
		return []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfFunctionCall(string(p.Call.Args), p.Call.ID, p.Call.Name)}
	case p.Result != nil:
		item := responses.ResponseInputItemParamOfFunctionCallOutput(p.Result.Text)
		item.OfFunctionCallOutput.CallID = param.NewOpt(p.Result.ID)
		return []responses.ResponseInputItemUnionParam{item}
	case p.State != nil && p.State.Owner == provider && thinks:
		return []responses.ResponseInputItemUnionParam{param.Override[responses.ResponseInputItemUnionParam](p.State.Data)}
	}
	return nil
}

var reasoner = lazyregexp.New(`^(o[1-9]([-.].*)?|gpt-([5-9]|[1-9][0-9])([-.].*)?|codex.*)$`)

// reasons reports whether a model is known to return encrypted reasoning. Other models reject the request for it
// ("Encrypted content is not supported with this model"), compatible servers have none, and the name of an Azure
// deployment says nothing. For these it is left out; a reasoning model then loses only its earlier reasoning.
func reasons(model string) bool {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return reasoner().MatchString(name) && !strings.Contains(name, "-chat")
}

// sealed returns a reasoning item to send back, or nil if it has no encrypted content: the provider would look for
// an item that it did not store.
func sealed(item json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(item, &fields) != nil || words(fields["encrypted_content"]) == "" {
		return nil
	}
	delete(fields, "status") // the provider sends it and rejects it
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return data
}
