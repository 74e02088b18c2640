package mcphost

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Result is the answer to a call.
type Result struct {
	Text       string          // valid UTF-8; what is no text is named in it
	Structured json.RawMessage // nil without one
	Failed     bool            // the tool says that it failed
}

func resultOf(res *mcp.CallToolResult) (*Result, error) {
	r := &Result{Text: contents(res.Content), Failed: res.IsError}
	if res.StructuredContent != nil {
		b, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return nil, err
		}
		r.Structured = b
	}
	return r, nil
}

// contents returns the text of an answer. What is no text is named.
func contents(all []mcp.Content) string {
	var parts []string
	for _, c := range all {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, fmt.Sprintf("[%s, %d bytes, not shown]", c.MIMEType, len(c.Data)))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[%s, %d bytes, not shown]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Blob == nil {
				parts = append(parts, c.Resource.Text)
			} else if c.Resource != nil {
				parts = append(parts, fmt.Sprintf("[%s, %d bytes, not shown]", c.Resource.URI, len(c.Resource.Blob)))
			}
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\ufffd")
}
