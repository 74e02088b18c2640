package mcpserve

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/tool"
)

func pngOf(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Images and documents of a skill reach the client as content of their type, behind the text that names them.
func TestMediaOfSkills(t *testing.T) {
	shot, pdf := pngOf(t), "%PDF-1.7\n/Type /Page\n"
	w := newWorld(t, map[string]string{"s/SKILL.md": "---\nname: s\ndescription: S.\n---\nGo.\n", "s/shot.png": string(shot), "s/a b.pdf": pdf, "s/fake.png": "\x89PNG\r\n\x1a\n\x00"})
	for _, revision := range revisions {
		c := w.client(t, nil, revision)
		for path, message := range map[string]string{"shot.png": "Read 'shot.png' (PNG image, 40 x 30, ", "a b.pdf": "Read 'a b.pdf' (PDF document, ", "fake.png": "'fake.png' (PNG image, "} {
			r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "skill_read", Arguments: map[string]any{"skill_name": "s", "path": path}})
			if err != nil {
				t.Fatal(err)
			}
			if text := r.Content[0].(*mcp.TextContent).Text; r.IsError || !strings.Contains(text, message) || strings.Contains(text, "PDF-1.7") {
				t.Errorf("%s: %s", path, text)
			}
			switch last := r.Content[len(r.Content)-1].(type) {
			case *mcp.ImageContent:
				if path != "shot.png" || last.MIMEType != "image/png" || !bytes.Equal(last.Data, shot) {
					t.Errorf("%s: an image of %s", path, last.MIMEType)
				}
			case *mcp.EmbeddedResource:
				if path != "a b.pdf" || last.Resource.MIMEType != "application/pdf" || string(last.Resource.Blob) != pdf || last.Resource.URI != "document:a%20b.pdf" {
					t.Errorf("%s: %+v", path, last.Resource)
				}
			default:
				if path != "fake.png" || len(r.Content) != 1 {
					t.Errorf("%s: %d contents", path, len(r.Content))
				}
			}
		}
	}
}

// A result shows no more than the results of an answer may, and says what is left out. One that failed shows nothing.
func TestMediaAreBounded(t *testing.T) {
	s, shot := &Server{}, tool.Media{Type: "image/png", Data: pngOf(t)}
	s.o.Limits.Result = 1000
	r := tool.Success("x", "")
	for range 12 {
		r.Media = append(r.Media, shot)
	}
	r.Media = append(r.Media, tool.Media{Type: "application/pdf", Data: append([]byte("%PDF-1.7"), make([]byte, 8<<20)...)})
	images, left := 0, 0
	for _, c := range s.result("", r).Content[1:] {
		switch c := c.(type) {
		case *mcp.ImageContent:
			images++
		case *mcp.TextContent:
			left += strings.Count(c.Text, "left out, since a result may show 10 images and documents, with 7 MB")
		}
	}
	if images != 10 || left != 3 {
		t.Errorf("%d images, %d left out", images, left)
	}
	r.Success = false
	if n := len(s.result("", r).Content); n != 1 {
		t.Errorf("a failure has %d contents", n)
	}
}
