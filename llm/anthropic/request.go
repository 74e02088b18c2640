package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// params translates a request. Four places are marked for the cache, which is all that the API takes: the last tool,
// the system text, and the ends of the last two messages of the user. What the request before this one had marked at
// its end is so marked again and found, however many blocks have been added since (the API looks back over 20).
func params(name string, r *llm.Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(name), MaxTokens: DefaultMaxTokens}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, tool(t))
	}
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	if !blank(r.System) {
		p.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for _, m := range wire.Messages(r.Messages) {
		if blocks := blocks(m); len(blocks) > 0 {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: blocks})
		}
	}
	mark(p.Messages)
	return p
}

// mark sets the marks at the ends of the last two messages of the user.
func mark(msgs []sdk.MessageParam) {
	left := 2
	for _, m := range slices.Backward(msgs) {
		if left == 0 || m.Role != sdk.MessageParamRoleUser {
			continue
		}
		if c := m.Content[len(m.Content)-1].GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
			left--
		}
	}
}

func tool(t llm.Tool) sdk.ToolUnionParam {
	p := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](or(t.Input, `{"type":"object"}`))}
	if t.Description != "" {
		p.Description = sdk.String(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: p}
}

// blocks translates a message. The API wants results ahead of everything else, and no text without words.
func blocks(m llm.Message) []sdk.ContentBlockParamUnion {
	var results, rest []sdk.ContentBlockParamUnion
	for _, p := range m.Parts {
		switch {
		case p.Result != nil:
			results = append(results, sdk.ContentBlockParamUnion{OfToolResult: result(p.Result)})
		case p.Call != nil:
			rest = append(rest, sdk.ContentBlockParamUnion{OfToolUse: &sdk.ToolUseBlockParam{ID: p.Call.ID, Name: p.Call.Name, Input: or(p.Call.Args, `{}`)}})
		case p.State != nil && p.State.Owner == provider:
			rest = append(rest, thought(p.State.Data)...)
		case !blank(p.Text):
			rest = append(rest, sdk.NewTextBlock(p.Text))
		}
	}
	return append(results, rest...)
}

func result(r *llm.Result) *sdk.ToolResultBlockParam {
	p := &sdk.ToolResultBlockParam{ToolUseID: r.ID}
	if !blank(r.Text) {
		p.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}}
	}
	if r.Failed {
		p.IsError = sdk.Bool(true)
	}
	return p
}

// thoughtState is the llm.State of a block of reasoning: the block.
type thoughtState struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// thought returns the block of a state, or nothing where it is not one of this package's.
func thought(state json.RawMessage) []sdk.ContentBlockParamUnion {
	var s thoughtState
	if json.Unmarshal(state, &s) != nil {
		return nil
	}
	switch s.Type {
	case "thinking":
		return []sdk.ContentBlockParamUnion{sdk.NewThinkingBlock(s.Signature, s.Thinking)}
	case "redacted_thinking":
		return []sdk.ContentBlockParamUnion{sdk.NewRedactedThinkingBlock(s.Data)}
	}
	return nil
}

// or returns data, or fallback where there is none.
func or(data json.RawMessage, fallback string) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage(fallback)
	}
	return data
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
