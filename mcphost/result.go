package mcphost

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/tool"
)

// Result is the answer to a call.
type Result struct {
	Text       string          // valid UTF-8; what is no text is named in it
	Structured json.RawMessage // nil without one
	Failed     bool            // the tool says that it failed
}

// result returns the answer to a call in the engine's form.
func (s *server) result(res *Result) tool.Result {
	if size := int64(max(len(res.Text), len(res.Structured))); size > s.h.o.MaxResult {
		return tool.CauseUnknown.Failure(fmt.Sprintf("The result has %d bytes, and at most %d are given to a model: ask for less", size, s.h.o.MaxResult))
	}
	text, doc := res.Text, res.Structured
	if s.Redact != nil {
		text, doc = s.Redact(text), json.RawMessage(s.Redact(string(doc)))
	}
	switch {
	case res.Failed:
		return tool.CauseUnknown.Failure(cmp.Or(text, string(doc), "it failed, and does not say why"))
	case isDocument(text):
		return tool.Success(json.RawMessage(text), "")
	case len(doc) == 0 || !json.Valid(doc) || isWrapped(doc, text):
		return tool.Success(text, "")
	}
	return tool.Success(doc, text)
}

// isDocument reports whether a text is a JSON object or list.
func isDocument(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// isWrapped reports whether a document says no more than a text, as {"result": text} does, which some servers make of each text.
func isWrapped(doc json.RawMessage, text string) bool {
	var one map[string]string
	return json.Unmarshal(doc, &one) == nil && len(one) == 1 && one["result"] == text
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
