package mcpserve

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// mostPrompts is how many skills are offered to a person as prompts. The others are reached by the tool skill.
const mostPrompts = 100

// promptArgs is the argument of a prompt.
const promptArgs = "args"

// callable returns the skills that a person may call for, also those that are hidden from models.
func callable(c *skill.Catalog) []skill.Entry {
	var out []skill.Entry
	for e := range c.All() {
		if (e.State() == skill.StateEnabled || e.State() == skill.StateHidden) && e.UserInvocable() && len(out) < mostPrompts {
			out = append(out, e)
		}
	}
	return out
}

// offerPrompts makes a prompt of each skill that a person may call for.
func (s *Server) offerPrompts(ctx context.Context, c *skill.Catalog) {
	var gone []string
	for name := range s.prompts {
		gone = append(gone, name)
	}
	s.sdk.RemovePrompts(gone...)
	s.prompts = map[string]string{}
	for _, e := range callable(c) {
		k, err := e.Load(ctx)
		if err != nil {
			continue // it has become unreadable
		}
		hint := k.Manifest().ArgumentHint
		_ = k.Close()
		s.prompts[e.Canonical()] = hint
		p := &mcp.Prompt{Name: e.Canonical(), Description: cut(e.Description(), s.o.Limits.Description)}
		if hint != "" {
			p.Arguments = []*mcp.PromptArgument{{Name: promptArgs, Description: hint}}
		}
		s.sdk.AddPrompt(p, s.prompt)
	}
}

// prompt answers prompts/get: the person called for the skill.
func (s *Server) prompt(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	of := caller(req.Extra)
	ctx = trace.WithIdentity(ctx, trace.Identity{Agent: clientName(of, req.Session)})
	conversation := s.o.Session()
	kit, err := s.o.Kit(ctx, c, conversation)
	if err != nil {
		return nil, err
	}
	defer kit.End(context.WithoutCancel(ctx))
	r, text := kit.Invoke(ctx, req.Params.Name, req.Params.Arguments[promptArgs])
	if !r.Success {
		return nil, invalid(r.Message)
	}
	st := conversation.State()
	text += fmt.Sprintf("\n\n[Give \"session\": %q to calls of this server's tools while you carry it out.]", s.seal(of, &st))
	return &mcp.GetPromptResult{Description: r.Message, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
}

// complete answers completion/complete: the values that an argument hint lists, as in <red|green>.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	out := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref == nil || req.Params.Ref.Type != "ref/prompt" || req.Params.Argument.Name != promptArgs {
		return out, nil
	}
	s.mu.Lock()
	hint := s.prompts[req.Params.Ref.Name]
	s.mu.Unlock()
	for _, value := range strings.Split(strings.Trim(hint, "<>[] "), "|") {
		if value = strings.TrimSpace(value); strings.Contains(hint, "|") && strings.HasPrefix(value, req.Params.Argument.Value) {
			out.Completion.Values = append(out.Completion.Values, value)
		}
	}
	out.Completion.Values = out.Completion.Values[:min(len(out.Completion.Values), mostPrompts)]
	return out, nil
}
