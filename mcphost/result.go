package mcphost

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/tool"
)

// Result is the answer to a call.
type Result struct {
	Text       string          // valid UTF-8; what is no text is named in it
	Media      []tool.Media    // images and PDF documents within bounds
	Structured json.RawMessage // nil without one
	Failed     bool            // the tool says that it failed
}

// result returns the answer to a call in the engine's form.
func (s *server) result(res *Result) tool.Result {
	r := s.texts(res)
	r.Media = res.Media
	return r
}

func (s *server) texts(res *Result) tool.Result {
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
	r := &Result{Failed: res.IsError}
	r.Text, r.Media = contents(res.Content)
	if res.StructuredContent != nil {
		b, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return nil, err
		}
		r.Structured = b
	}
	return r, nil
}

// contents returns the text of an answer, in which what is no text is named, and its images and documents.
func contents(all []mcp.Content) (text string, shown []tool.Media) {
	var parts []string
	// show takes an image or a document, whatever its server calls it.
	show := func(name string, data []byte) string {
		if err := media.Check(data); err != nil {
			return fmt.Sprintf("[%s, %d bytes, not shown: %v]", name, len(data), err)
		}
		shown = append(shown, tool.Media{Type: media.Type(data), Data: data})
		return "[" + media.Describe(data) + "]"
	}
	for _, c := range all {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, show(c.MIMEType, c.Data))
		case *mcp.AudioContent:
			parts = append(parts, fmt.Sprintf("[%s, %d bytes, not shown]", c.MIMEType, len(c.Data)))
		case *mcp.ResourceLink:
			parts = append(parts, fmt.Sprintf("[%s: %s]", c.Name, c.URI))
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Blob == nil {
				parts = append(parts, c.Resource.Text)
			} else if c.Resource != nil {
				parts = append(parts, show(c.Resource.URI, c.Resource.Blob))
			}
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\ufffd"), shown
}
