package mcphost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/mcphost"
)

// clock is a server that tells the time. Most servers are programs; this one is a part of the example.
func clock(ctx context.Context, p *mcphost.Pipes) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "clock", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "now", Description: "Tells the time"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noon"}}}, nil, nil
	})
	p.Started()
	return s.Run(ctx, &mcp.IOTransport{Reader: p.In, Writer: p.Out})
}

// The tools of all servers are offered to a model. A server is started when they are asked for, or at the first call.
func Example() {
	h, err := mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{{Label: "clock", Run: clock}}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	tools, err := h.Tools(context.Background())
	if err != nil {
		log.Print(err) // what works is there all the same
	}
	for _, t := range tools {
		r := t.Call(context.Background(), json.RawMessage(`{}`))
		fmt.Printf("%s: %s: %s\n", t.Name, t.Description, r.Result)
	}
	// Output:
	// mcp__clock__now: Tells the time: noon
}

// What is known of a server is shown without starting it.
func ExampleHost_Info() {
	h, err := mcphost.NewHost(&mcphost.HostOptions{Servers: []mcphost.Server{{Label: "clock", Run: clock}}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	show := func() {
		switch i := h.Info("clock"); i.State {
		case mcphost.StateFailed:
			fmt.Println("failed:", i.Err)
		case mcphost.StateRunning:
			fmt.Println("runs with", i.Tools, "tool")
		case mcphost.StateIdle:
			fmt.Println("is not started")
		}
	}
	show()
	if _, err := h.Tools(context.Background()); err != nil {
		log.Print(err)
	}
	show()
	// Output:
	// is not started
	// runs with 1 tool
}
