package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCall is a program for the scripts: mcpcall [TOOL ARGUMENTS]... starts agent serve, calls tools and prints the text of each result;
// without arguments it prints the names of the tools.
func mcpCall() {
	ctx := context.Background()
	server := exec.Command("agent", "serve")
	server.Stderr = os.Stderr
	c, err := mcp.NewClient(&mcp.Implementation{Name: "mcpcall", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	exitOn(err)
	defer c.Close()
	if len(os.Args) == 1 {
		list, err := c.ListTools(ctx, nil)
		exitOn(err)
		for _, t := range list.Tools {
			fmt.Println(t.Name)
		}
	}
	for args := os.Args[1:]; len(args) > 1; args = args[2:] {
		r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: args[0], Arguments: json.RawMessage(args[1])})
		exitOn(err)
		for _, part := range r.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				fmt.Println(text.Text)
			}
		}
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
