package mcphost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/trace"
)

// request is a message to a fake server.
type request struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name           string
		Cursor         string
		Meta           map[string]any `json:"_meta"`
		InputResponses json.RawMessage
		RequestState   string
	}
	Result, Error json.RawMessage // of an answer
}

// fake answers a request with a result or an error as JSON: "" is no answer.
type fake func(r *request) (result, failure string)

// serve has a fake server read what c sends, until c is closed.
func serve(c *Conn, f fake) { answer(c.In(), c.Out(), f) }

const tools = `"tools":[{"name":"tell","description":"Tells","inputSchema":{"type":"object"}}]`

// modern knows the revision without sessions alone.
func modern(r *request) (string, string) {
	const complete = `"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	switch {
	case r.Method == "initialize":
		return "", `{"code":-32022,"message":"unsupported","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}`
	case r.Params.Meta["io.modelcontextprotocol/protocolVersion"] == nil:
		return "", `{"code":-32602,"message":"missing _meta"}`
	case r.Method == "server/discover":
		return `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},` + complete + `}`, ""
	case r.Method == "tools/list":
		return `{` + tools + `,` + complete + `}`, ""
	case r.Method == "tools/call":
		return `{"content":[{"type":"text","text":"noon"}],"structuredContent":{"hour":12},` + complete + `}`, ""
	}
	return "", `{"code":-32601,"message":"no such method"}`
}

// legacy begins with initialize. It is silent about what it does not know.
func legacy(r *request) (string, string) {
	switch r.Method {
	case "initialize":
		return `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`, ""
	case "tools/list":
		return `{` + tools + `}`, ""
	case "tools/call":
		return `{"content":[{"type":"text","text":"noon"}],"structuredContent":{"hour":12}}`, ""
	case "ping":
		return "{}", ""
	}
	return "", ""
}

// slowly takes some time for its first answer, as a server that is started by npx.
func slowly(f fake) fake {
	late := false
	return func(r *request) (string, string) {
		if !late {
			late = true
			time.Sleep(20 * time.Second)
		}
		return f(r)
	}
}

// slow takes some time for each question about its revisions.
func slow(f fake) fake {
	return func(r *request) (string, string) {
		if r.Method == "server/discover" {
			time.Sleep(20 * time.Second)
		}
		return f(r)
	}
}

func refusing(r *request) (string, string) {
	if r.Method == "server/discover" {
		return "", `{"code":-32601,"message":"Method not found"}`
	}
	return legacy(r)
}

// empty answers everything, also what it does not know.
func empty(r *request) (string, string) {
	if result, _ := legacy(r); result != "" {
		return result, ""
	}
	return "{}", ""
}

// A server is used in whichever revision it speaks, and however slow it is.
func TestRevisions(t *testing.T) {
	for name, f := range map[string]fake{
		"modern only": modern, "modern only and slow": slowly(modern), "modern only and always slow": slow(modern), "older": refusing, "older and slow": slowly(refusing), "older and silent": legacy,
		"older and slow and silent": slowly(legacy), "answers everything": empty,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(&Options{Kill: func(why string) { t.Errorf("killed: %s", why) }})
				go serve(c, func(r *request) (string, string) {
					if r.Method == "ping" && strings.HasPrefix(name, "modern") {
						t.Error("it was asked for what its revision does not know")
					}
					return f(r)
				})
				defer c.End()
				defer c.Close()
				if err := c.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
				page, err := c.Tools(t.Context(), "")
				if err != nil || len(page.Tools) != 1 || page.Tools[0].Name != "tell" || string(page.Tools[0].Input) != `{"type":"object"}` {
					t.Errorf("got %+v, %v", page, err)
				}
				r, err := c.Call(t.Context(), "tell", json.RawMessage(`{}`), nil)
				if err != nil || r.Text != "noon" || string(r.Structured) != `{"hour":12}` || r.Failed {
					t.Errorf("got %+v, %v", r, err)
				}
				if err := c.Alive(t.Context()); err != nil {
					t.Errorf("no sign of life: %v", err)
				}
			})
		})
	}
}

// A server that answers nothing is given up when its time is over, and one that ends at once.
func TestNoAnswer(t *testing.T) {
	silent := func(*request) (string, string) { return "", "" }
	synctest.Test(t, func(t *testing.T) {
		c := New(&Options{Kill: func(string) {}})
		go serve(c, silent)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if err := c.Connect(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		c := New(&Options{Kill: func(string) {}})
		defer c.Close()
		go func() {
			time.Sleep(time.Second)
			c.End()
		}()
		if err := c.Connect(t.Context()); err == nil {
			t.Error("it speaks with nobody")
		}
	})
}

// A call says which span it belongs to, if there is one.
func TestParentOfCalls(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	synctest.Test(t, func(t *testing.T) {
		c := New(&Options{Kill: func(why string) { t.Errorf("killed: %s", why) }})
		var got []any
		go serve(c, func(r *request) (string, string) {
			if r.Method != "tools/call" {
				return modern(r)
			}
			got = append(got, r.Params.Meta["traceparent"], r.Params.Meta["progressToken"])
			return "", `{"code":-32000,"message":"no"}`
		})
		defer c.End()
		defer c.Close()
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Call(t.Context(), "tea", nil, nil)
		_, _ = c.Call(trace.WithParent(t.Context(), parent), "tea", nil, func(*Progress) {})
		if fmt.Sprint(got) != "[<nil> <nil> "+parent+" call-1]" {
			t.Errorf("got %v", got)
		}
	})
}

// Progress goes to the call that it is about, and the error of a server is an *Error.
func TestProgressOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(&Options{Kill: func(why string) { t.Errorf("killed: %s", why) }})
		go serve(c, func(r *request) (string, string) {
			if r.Method != "tools/call" {
				return modern(r)
			}
			for _, params := range []string{fmt.Sprintf(`{"progressToken":%q,"progress":-1,"total":2,"message":"half"}`, r.Params.Meta["progressToken"]),
				`{"progressToken":"call-99","progress":1}`, `{"progressToken":7}`, `[]`} {
				fmt.Fprintf(c.Out(), `{"jsonrpc":"2.0","method":"notifications/progress","params":%s}`+"\n", params)
			}
			return "", `{"code":-32000,"message":"no ` + r.Params.Name + `"}`
		})
		defer c.End()
		defer c.Close()
		if err := c.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []Progress
		_, err := c.Call(t.Context(), "tea", nil, func(p *Progress) { got = append(got, *p) })
		var own *Error
		if !errors.As(err, &own) || own.Code != -32000 || own.Message != "no tea" {
			t.Errorf("got %v", err)
		}
		if len(got) != 1 || got[0] != (Progress{0, 2, "half"}) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestContents(t *testing.T) {
	text := func(s string) mcp.Content { return &mcp.TextContent{Text: s} }
	for _, tt := range []struct {
		name string
		in   []mcp.Content
		want string
	}{
		{"several texts", []mcp.Content{text("a"), text("b")}, "a\nb"},
		{"an image", []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: []byte("abc")}}, "[image/png, 3 bytes, not shown: it is neither a PNG, JPEG, GIF or WebP image nor a PDF document]"},
		{"a sound", []mcp.Content{&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("abc")}}, "[audio/wav, 3 bytes, not shown]"},
		{"a link", []mcp.Content{&mcp.ResourceLink{Name: "log", URI: "file:///log"}}, "[log: file:///log]"},
		{"a file", []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:y", Text: "words"}}}, "words"},
		{"a binary file", []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:y", Blob: []byte("abc")}}, &mcp.EmbeddedResource{}}, "[x:y, 3 bytes, not shown: it is neither a PNG, JPEG, GIF or WebP image nor a PDF document]"},
		{"bad UTF-8", []mcp.Content{text("a\xffb")}, "a\ufffdb"},
	} {
		if got, shown := contents(tt.in); got != tt.want || len(shown) > 0 {
			t.Errorf("%s: got %q and %d images, want %q", tt.name, got, len(shown), tt.want)
		}
	}
	if text, _ := contents(nil); strings.Contains(text, "\n") {
		t.Error("nothing has no lines")
	}
	// An image is what its bytes say.
	gif := []byte("GIF89a\x02\x00\x01\x00\x00\x00\x00")
	got, shown := contents([]mcp.Content{text("look"), &mcp.ImageContent{MIMEType: "image/png", Data: gif},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x:y", Blob: []byte("%PDF-1.7")}}})
	if got != "look\n[GIF image, 2 x 1, 13 bytes]\n[PDF document, 8 bytes]" || len(shown) != 2 || shown[0].Type != "image/gif" || shown[1].Type != "application/pdf" {
		t.Errorf("got %q, %+v", got, shown)
	}
}
