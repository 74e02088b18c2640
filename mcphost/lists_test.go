package mcphost

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// library has prompts, resources and an extension.
func library(r *request) (string, string) {
	const complete = `,"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	switch r.Method {
	case "server/discover":
		return `{"supportedVersions":["2026-07-28"],"instructions":"Be kind.","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"lib","title":"Library","version":"2"}},
			"capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{},"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}` + complete, ""
	case "prompts/list":
		if r.Params.Cursor == "" {
			return `{"prompts":[{"name":"greet","description":"Greets\u0007","arguments":[{"name":"who","required":true}]}],"nextCursor":"2"` + complete, ""
		}
		return `{"prompts":[{"name":"bye","title":"Bye"}]` + complete, ""
	case "prompts/get":
		return `{"messages":[{"role":"user","content":{"type":"text","text":"Hello"}},{"role":"system","content":{"type":"image","mimeType":"image/png","data":"AAAA"}}]` + complete, ""
	case "completion/complete":
		return `{"completion":{"values":["Ada","Adam"]}` + complete, ""
	case "resources/list":
		return `{"resources":[{"uri":"a://1","name":"one","mimeType":"text/plain","size":3}],"nextCursor":"n"` + complete, ""
	case "resources/read":
		return `{"contents":[{"uri":"a://1","text":"key is sesame"},{"uri":"a://1","blob":"AAEC"}]` + complete, ""
	case "skills/list":
		return `{"skills":[{"uri":"skill://x/SKILL.md"}],"cursor":"` + r.Params.Cursor + `"` + complete, ""
	}
	return modern(r)
}

func TestLists(t *testing.T) {
	h, _ := host(t, func(r *request) (string, string) {
		result, failure := library(r)
		return strings.Join(strings.Fields(result), " "), failure
	}, &HostOptions{Servers: []Server{{Redact: func(s string) string { return strings.ReplaceAll(s, "sesame", "…") }}}})
	ctx := t.Context()
	prompts, err := h.Prompts(ctx, "demo")
	if got := fmt.Sprintf("%+v", prompts); err != nil || got != "[{Name:greet Title: Description:Greets Arguments:[{Name:who Description: Required:true}]} {Name:bye Title:Bye Description: Arguments:[]}]" {
		t.Errorf("got %s, %v", got, err)
	}
	messages, err := h.Prompt(ctx, "demo", "greet", map[string]string{"who": "Ada"})
	if got := fmt.Sprint(messages); err != nil || got != "[{user Hello} {user [image/png, 3 bytes, not shown: it is neither a PNG, JPEG, GIF or WebP image nor a PDF document]}]" {
		t.Errorf("got %s, %v", got, err)
	}
	values, err := h.Complete(ctx, "demo", "greet", "who", "Ad", nil)
	if fmt.Sprint(values) != "[Ada Adam]" || err != nil {
		t.Errorf("got %q, %v", values, err)
	}
	resources, next, err := h.Resources(ctx, "demo", "")
	if got := fmt.Sprintf("%+v", resources); err != nil || next != "n" || got != "[{URI:a://1 Name:one Title: Description: MIMEType:text/plain Size:3}]" {
		t.Errorf("got %s, %q, %v", got, next, err)
	}
	if _, next, _ := h.Resources(ctx, "demo", "n"); next != "" {
		t.Errorf("the list does not end: %q", next)
	}
	contents, err := h.Read(ctx, "demo", "a://1")
	if got := fmt.Sprint(contents); err != nil || got != "[{a://1  key is … []} {a://1   [0 1 2]}]" {
		t.Errorf("got %s, %v", got, err)
	}
	if i := h.Info("demo"); i.Name != "Library" || i.Instructions != "Be kind." || fmt.Sprint(i.Features) != "[tools prompts resources completions]" {
		t.Errorf("got %+v", i)
	}
}

// A method of an extension is sent as it is, with what the revision adds to each request.
func TestAsk(t *testing.T) {
	h, _ := host(t, func(r *request) (string, string) {
		result, failure := library(r)
		return strings.Join(strings.Fields(result), " "), failure
	}, nil)
	ctx := t.Context()
	if _, ok := h.Extension("demo", "io.modelcontextprotocol/skills"); ok {
		t.Error("it is known before the start")
	}
	var got struct {
		Skills []struct{ URI string }
		Cursor string
	}
	if err := h.Ask(ctx, "demo", "skills/list", map[string]string{"cursor": "c"}, &got); err != nil || fmt.Sprint(got) != "{[{skill://x/SKILL.md}] c}" {
		t.Errorf("got %+v, %v", got, err)
	}
	if raw, ok := h.Extension("demo", "io.modelcontextprotocol/skills"); !ok || string(raw) != `{"directoryRead":true}` {
		t.Errorf("got %s, %t", raw, ok)
	}
	var e *ServerError
	if err := h.Ask(ctx, "demo", "skills/get", struct{}{}, &got); !errors.As(err, &e) || e.Kind != KindAnswer {
		t.Errorf("got %v", err)
	}
	if err := h.Ask(ctx, "demo", "skills/list", struct{}{}, new(json.Number)); !errors.As(err, &e) || e.Kind != KindProtocol {
		t.Errorf("got %v", err)
	}
	for _, method := range []string{"tools/call", "notifications/cancelled"} {
		if err := h.Ask(ctx, "demo", method, struct{}{}, &got); err == nil {
			t.Errorf("%s was sent", method)
		}
	}
	old, _ := host(t, refusing, nil)
	if err := old.Ask(ctx, "demo", "skills/list", struct{}{}, &got); err == nil || !strings.Contains(err.Error(), "it declares no extension") {
		t.Errorf("got %v", err)
	}
	if prompts, err := old.Prompts(ctx, "demo"); prompts != nil || err != nil {
		t.Errorf("got %v, %v", prompts, err)
	}
}

// A file of a skill may have 16 MiB, whether a process or a web server has it. No other answer may be as long.
func TestLargeFile(t *testing.T) {
	large := bytes.Repeat([]byte{0xff, 1, 2, 3}, 4<<20)
	blob := base64.StdEncoding.EncodeToString(large)
	process, _ := host(t, func(r *request) (string, string) {
		if r.Method == "resources/read" {
			return `{"contents":[{"uri":"a://1","blob":"` + blob + `"}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`, ""
		}
		result, failure := library(r)
		return strings.Join(strings.Fields(result), " "), failure
	}, nil)
	s := sdkServer(nil)
	s.AddResource(&mcp.Resource{Name: "one", URI: "a://1"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "a://1", Blob: large}}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "all"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: blob[:9<<20]}}}, nil, nil
	})
	get := func(*http.Request) *mcp.Server { return s }
	for name, h := range map[string]*Host{
		"process": process,
		"JSON":    web(t, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), nil),
		"stream":  web(t, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}), nil),
	} {
		if out, err := h.Read(t.Context(), "demo", "a://1"); err != nil || len(out) != 1 || !bytes.Equal(out[0].Blob, large) {
			t.Errorf("%s: got %d contents, %v", name, len(out), err)
		}
		if name == "JSON" {
			all := toolsOf(t, h)
			if r := call(t, &all[0], `{}`); all[0].Name != "mcp__demo__all" || r.Success {
				t.Errorf("the answer of a tool is as long: %s", all[0].Name)
			}
		}
	}
}
