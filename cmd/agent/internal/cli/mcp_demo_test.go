package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpDemo is a program for the scripts: an MCP server with tools that read, change and ask, a resource and a prompt.
func mcpDemo() {
	s := mcp.NewServer(&mcp.Implementation{Name: "demo", Version: "3"}, nil)
	type args struct {
		What string `json:"what,omitempty"`
	}
	says := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "tell", Description: "Tells something.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			r := says("told " + a.What)
			if a.What == "picture" {
				r.Content = append(r.Content, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("GIF89a\x02\x00\x01\x00\x00\x00\x00")}) // it is no PNG
			}
			return r, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "close", Description: "Closes an issue."},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			return says("closed " + a.What), nil, nil
		})
	form := map[string]any{"type": "object", "required": []string{"name"}, "properties": map[string]any{
		"name": map[string]any{"type": "string", "description": "your name"}, "sure": map[string]any{"type": "boolean"}}}
	mcp.AddTool(s, &mcp.Tool{Name: "order", Description: "Orders something, and asks who does."},
		func(_ context.Context, r *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
			answer, ok := r.Params.InputResponses["order"].(*mcp.ElicitResult)
			if !ok {
				ask := &mcp.ElicitParams{Mode: "form", Message: "Who orders?\x1b[2J", RequestedSchema: form}
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"order": ask}}, nil, nil
			}
			content, err := json.Marshal(answer.Content)
			return says(fmt.Sprintf("%s %s", answer.Action, content)), nil, err
		})
	s.AddResource(&mcp.Resource{URI: "note://one", Name: "one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note://one", Text: "the first note"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "review", Arguments: []*mcp.PromptArgument{{Name: "file", Required: true}, {Name: "how"}}},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			text := fmt.Sprintf("Review %s %s", r.Params.Arguments["file"], r.Params.Arguments["how"])
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
