package cli_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCall is a program for the scripts: mcpcall [http] [-ANSWER] [TOOL ARGUMENTS]... starts agent serve, calls tools and prints the text of each
// result; without arguments it prints the names of the tools. With an answer it prints questions to stderr and gives that answer. The
// tool "verify" with any arguments reads every file that is published, and prints the address of those that are as they were said to be.
// The variable TOKEN has the token of the client, and "as" with another one goes on as another client. "run" with a command runs it in between, and those of background.do do what they say. The variable SERVE has further arguments of the
// server.
func mcpCall() {
	ctx, args, o := context.Background(), os.Args[1:], &mcp.ClientOptions{}
	http := len(args) > 0 && args[0] == "http"
	if http {
		args = args[1:]
	}
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		answer := args[0][1:]
		args = args[1:]
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Fprintln(os.Stderr, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"run": answer}}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "mcpcall", Version: "1"}, o)
	exitOn(mcp.AddSendingCustomMethod[*mcp.ListResourcesParams, *publishedSkills](client, "skills/list"))
	transport, server := startServer(http)
	if http {
		defer func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() }()
	}
	c, err := client.Connect(ctx, transport, nil)
	exitOn(err)
	defer c.Close()
	if len(args) == 0 {
		list, err := c.ListTools(ctx, nil)
		exitOn(err)
		for _, t := range list.Tools {
			fmt.Println(t.Name)
		}
	}
	later := &background{c: c, server: server}
	for ; len(args) > 1; args = args[2:] {
		if later.do(ctx, args[0], args[1]) {
			continue
		}
		if args[0] == "as" {
			exitOn(os.Setenv("TOKEN", args[1]))
			c, err = client.Connect(ctx, transport, nil)
			exitOn(err)
			later.c = c
			continue
		}
		if args[0] == "verify" {
			verifySkills(ctx, c)
			continue
		}
		if args[0] == "run" { // a command, and time for the server to see what it did
			cmd := exec.Command("sh", "-c", args[1])
			cmd.Stderr = os.Stderr
			exitOn(cmd.Run())
			time.Sleep(1100 * time.Millisecond)
			continue
		}
		printCall(ctx, c, args[0], args[1])
	}
}

// printCall calls a tool and prints the text of its result.
func printCall(ctx context.Context, c *mcp.ClientSession, name, arguments string) {
	r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		fmt.Println("no result:", err)
		return
	}
	for _, part := range r.Content {
		if text, ok := part.(*mcp.TextContent); ok {
			fmt.Println(text.Text)
		}
	}
}

// startServer starts agent serve, on its streams or over HTTP, and returns the way to it and its process.
func startServer(http bool) (mcp.Transport, *exec.Cmd) {
	server := exec.Command("agent", "serve")
	if !http {
		server.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: server}, server
	}
	server.Args = append(append(server.Args, "--http", "127.0.0.1:0"), strings.Fields(os.Getenv("SERVE"))...)
	says, err := server.StderrPipe()
	exitOn(err)
	exitOn(server.Start())
	r := bufio.NewReader(says)
	line, err := r.ReadString('\n')
	for ; err == nil && !strings.Contains(line, "serving skills on"); line, err = r.ReadString('\n') { // such as warnings
		fmt.Fprint(os.Stderr, line)
	}
	exitOn(err)
	if os.Getenv("SERVE") != "" {
		go func() { _, _ = io.Copy(io.MultiWriter(os.Stderr, &serverSaid), r) }()
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), "serving skills on ")
	return &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true, HTTPClient: asCaller}, server
}

// asCaller sends the token of the variable TOKEN with each request.
var asCaller = &http.Client{Transport: tokens{}}

type tokens struct{}

func (tokens) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if token := os.Getenv("TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// publishedSkills is the result of skills/list.
type publishedSkills struct {
	mcp.ResultBase
	Skills []struct {
		Resources []struct {
			URI    string `json:"uri"`
			Digest string `json:"digest"`
			Size   int    `json:"size"`
		} `json:"resources"`
	} `json:"skills"`
}

// verifySkills reads every published file.
func verifySkills(ctx context.Context, c *mcp.ClientSession) {
	all, err := mcp.CallCustomMethod[*mcp.ListResourcesParams, *publishedSkills](ctx, c, "skills/list", &mcp.ListResourcesParams{})
	exitOn(err)
	for _, s := range all.Skills {
		for _, f := range s.Resources {
			r, err := c.ReadResource(ctx, &mcp.ReadResourceParams{URI: f.URI})
			exitOn(err)
			b := append([]byte(r.Contents[0].Text), r.Contents[0].Blob...)
			if f.Size != len(b) || f.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(b)) {
				exitOn(fmt.Errorf("%s is not what it was said to be", f.URI))
			}
			fmt.Println("verified", f.URI)
		}
	}
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
