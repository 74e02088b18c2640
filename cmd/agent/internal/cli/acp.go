package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/acp"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
)

func newACPCommand(s *app.Services) *cobra.Command {
	o := newAgentOptions(s)
	c := &cobra.Command{
		Use:   "acp",
		Short: "Let an editor drive the agent over the Agent Client Protocol",
		Long: `Let an editor such as Zed, a JetBrains IDE or Neovim drive the agent, over the Agent Client Protocol (version 1) on stdin and stdout. The
editor starts this command itself: its configuration names it.

Each session is a conversation about the folder that the editor names, with the settings and rules of that project. Questions are
asked in the editor. A conversation is saved as one in the terminal is, and either can continue it. MCP servers that the editor names
are started after you have approved them for the project. Warnings go to stderr.`,
		Example: `  agent acp
  agent acp --model anthropic/claude-sonnet-5-5 --mode accept-edits
  agent acp --project ~/src/site             # sessions about this project only`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return runACP(c.Context(), o) },
	}
	workFlags(s, c, o)
	c.Flags().BoolVar(&o.Past.Unsaved, "no-save", false, "do not save the conversations")
	return c
}

func runACP(ctx context.Context, o *worker.Options) error {
	s := o.Services
	if s.Out.InTerminal {
		return failure.Usage(errors.New("agent acp speaks the Agent Client Protocol on stdin, which is a terminal here"), "name it in the configuration of an editor: agent acp --help has examples")
	}
	if err := o.Check(); err != nil {
		return err
	}
	broken := make(chan os.Signal, 1) // a write to an editor that has left is an error, and does not end the process
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	return acp.Serve(ctx, &acp.Options{Services: s, In: s.Sys.In, Out: s.Sys.Out, Session: func(s *app.Services) *worker.Options {
		one := newAgentOptions(s)
		one.Model, one.System, one.MaxTurns, one.Past = o.Model, o.System, o.MaxTurns, o.Past
		return one
	}})
}
