package mcpserve_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/mcpserve"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

// A program serves its skills to agents of this machine. Without a script host there are instructions and files, and nothing runs.
func Example() {
	ctx := context.Background()
	files := fstest.MapFS{"greet/SKILL.md": {Data: []byte("---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n")}}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.FS(files, nil), Trust: skill.TrustRoot}}})
	if err != nil {
		log.Fatal(err)
	}
	server, err := mcpserve.New(&mcpserve.Options{
		Catalog: func(context.Context) (*skill.Catalog, error) { return catalog, nil },
		Kit: func(_ context.Context, c *skill.Catalog, s *session.Session) (*skilltool.Kit, error) {
			return skilltool.New(&skilltool.Options{Catalog: func() *skill.Catalog { return c }, Session: s}), nil // with Scripts, scripts run
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler(&mcpserve.HTTPOptions{})) // Verify asks for a token
	defer listener.Close()

	client, err := mcp.NewClient(&mcp.Implementation{Name: "example"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: listener.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	list, err := client.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range list.Tools {
		fmt.Println(t.Name)
	}
	// Output:
	// skill
	// skill_read
}
