package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCall is a program for the scripts: mcpcall [-ANSWER] [TOOL ARGUMENTS]... starts agent serve, calls tools and prints the text of each
// result; without arguments it prints the names of the tools. With an answer it prints questions to stderr and gives that answer.
func mcpCall() {
	ctx, args, o := context.Background(), os.Args[1:], &mcp.ClientOptions{}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		answer := args[0][1:]
		args = args[1:]
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Fprintln(os.Stderr, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": answer}}, nil
		}
	}
	server := exec.Command("agent", "serve")
	server.Stderr = os.Stderr
	c, err := mcp.NewClient(&mcp.Implementation{Name: "mcpcall", Version: "1"}, o).Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	exitOn(err)
	defer c.Close()
	if len(args) == 0 {
		list, err := c.ListTools(ctx, nil)
		exitOn(err)
		for _, t := range list.Tools {
			fmt.Println(t.Name)
		}
	}
	for ; len(args) > 1; args = args[2:] {
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
