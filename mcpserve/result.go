package mcpserve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// result returns a result as a client gets it: the envelope as text, and as the same value.
func (s *Server) result(r tool.Result) *mcp.CallToolResult {
	r.Result = shorten(r.Result, s.o.Limits.Result)
	r.Message = cut(r.Message, s.o.Limits.Result)
	b := r.Encode()
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}, StructuredContent: json.RawMessage(b), IsError: !r.Success}
}

// shorten cuts the value of a result in its middle if it is too long for a client. A value that is cut is a string.
func shorten(v any, most int) any {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return middle(v, most)
	case skilltool.Activation:
		return v // instructions are whole or not there
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil || utf8.RuneCount(b.Bytes()) <= most {
		return v
	}
	return middle(strings.TrimSuffix(b.String(), "\n"), most)
}

// middle leaves out the middle of a text that has more than some characters.
func middle(text string, most int) string {
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text
	}
	all := []rune(text)
	head, tail := most*2/3, most-most*2/3
	return fmt.Sprintf("%s\n… %d characters are left out here …\n%s", string(all[:head]), n-head-tail, string(all[n-tail:]))
}

// cut returns the beginning of a text, up to some characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
