package mcpserve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// result returns a result as a client gets it: the envelope as text and as the same value, then its images and documents. A value that is
// too long is cut in its middle, and the whole is kept for the caller.
func (s *Server) result(of string, r tool.Result) *mcp.CallToolResult {
	var link *mcp.ResourceLink
	if text, long := tooLong(r.Result, s.o.Limits.Result); long {
		r.Result, link = middle(text, s.o.Limits.Result), s.whole.keep(s.o.now(), of, text)
	}
	r.Message = cut(r.Message, s.o.Limits.Result)
	b := r.Encode()
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(b)}}, StructuredContent: json.RawMessage(b), IsError: !r.Success}
	if link != nil {
		out.Content = append(out.Content, link)
	}
	if r.Success {
		out.Content = append(out.Content, shown(r.Media)...)
	}
	return out
}

// shown returns images and documents as content of their type, and a text in place of one without room.
func shown(all []tool.Media) (out []mcp.Content) {
	room := media.Half()
	for _, m := range all {
		switch {
		case !room.Take(len(m.Data)):
			out = append(out, &mcp.TextContent{Text: fmt.Sprintf("[%s: left out, since a result may show %d images and documents, with %d MB]",
				media.Describe(m.Data), media.Half().Count, media.Half().Bytes>>20)})
		case media.IsImage(m.Type):
			out = append(out, &mcp.ImageContent{Data: m.Data, MIMEType: m.Type})
		default:
			uri := url.URL{Scheme: "document", Opaque: url.PathEscape(cmp.Or(m.Name, "document"))} // it names the document; nobody can read it again by this
			out = append(out, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri.String(), MIMEType: m.Type, Blob: m.Data}})
		}
	}
	return out
}

// tooLong returns the value of a result as text if it has more than some characters.
func tooLong(v any, most int) (string, bool) {
	switch v := v.(type) {
	case nil, skilltool.Activation: // instructions are whole or not there
		return "", false
	case string:
		return v, utf8.RuneCountInString(v) > most
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v) // Encode says what is wrong with it
	return strings.TrimSuffix(b.String(), "\n"), err == nil && utf8.RuneCount(b.Bytes()) > most
}

// middle returns both ends of a text that has more than some characters.
func middle(text string, most int) string {
	n := utf8.RuneCountInString(text)
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
