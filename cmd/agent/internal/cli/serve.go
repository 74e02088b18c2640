package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/serve"
)

type serveOptions struct{ s *app.Services }

func newServeCommand(s *app.Services, run func(context.Context, *serveOptions) error) *cobra.Command {
	o := &serveOptions{s: s}
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve skills to another agent over MCP",
		Long: `Serve the skills of this folder and user to another agent, over the Model Context Protocol on stdin and stdout. The other agent
starts this command itself: its configuration names it.

The agent gets tools to search, activate and read skills, and to run their scripts. Scripts run here, in the sandbox, with the
grants that they have here. A skill that is not trusted is not run, and nobody is asked: the answer names the command to type.`,
		Example: `  agent serve
  agent serve --project ~/src/site
  claude mcp add skills -- agent serve
  codex mcp add skills -- agent serve`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
}

func runServe(ctx context.Context, o *serveOptions) error {
	if o.s.Out.InTerminal {
		return app.Usage(errors.New("agent serve speaks MCP on stdin, which is a terminal here"), "name it in the configuration of another agent: agent serve --help has examples")
	}
	server, err := serve.New(ctx, o.s)
	if err != nil {
		return err
	}
	defer server.Close()
	return server.Stdio(ctx, o.s.Sys.In, o.s.Sys.Out)
}
