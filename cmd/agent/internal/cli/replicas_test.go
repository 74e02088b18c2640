package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpReplicas is a program for the scripts: mcpreplicas ARGUMENTS COMMAND... starts two servers, and for each command runs it, waits until
// both have said to their clients that something changed, and prints how each answers a call of script_run with the arguments.
func mcpReplicas() {
	ctx, told := context.Background(), make([]chan bool, 2)
	clients := make([]*mcp.ClientSession, len(told))
	for i := range told {
		told[i] = make(chan bool, 64)
		o := &mcp.ClientOptions{ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { told[i] <- true }}
		transport, _ := startServer(false)
		var err error
		clients[i], err = mcp.NewClient(&mcp.Implementation{Name: "replicas", Version: "1"}, o).Connect(ctx, transport, nil)
		exitOn(err)
		defer clients[i].Close()
		_, err = clients[i].ListTools(ctx, nil)
		exitOn(err)
	}
	show := func() {
		for i, c := range clients {
			r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "script_run", Arguments: json.RawMessage(os.Args[1])})
			exitOn(err)
			fmt.Println(i, r.Content[0].(*mcp.TextContent).Text)
		}
	}
	show()
	for _, command := range os.Args[2:] {
		for _, c := range told {
			for len(c) > 0 {
				<-c
			}
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Stderr = os.Stderr
		exitOn(cmd.Run())
		for i, c := range told {
			select {
			case <-c:
			case <-time.After(20 * time.Second):
				exitOn(fmt.Errorf("the client of server %d was not told of %q", i, command))
			}
		}
		fmt.Println("told of", command)
		show()
	}
}
