package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/want"
)

type mcpTrustOptions struct {
	serverOptions
	given openedFlags
	yes   bool
}

func newMCPTrustCommand(s *app.Services) *cobra.Command {
	o := &mcpTrustOptions{given: openedFlags{}}
	c := serverCommand(s, &o.serverOptions, &cobra.Command{
		Use:   "trust LABEL",
		Short: "Let a server that the project proposes be started",
		Long: `Approve a server that the project proposes in its settings or in .mcp.json. You first see what would be started or reached. The approval
is for this project, this entry, and the content of the project's files and folders that the entry names: after a change of any of them
you are asked again. Without a terminal, nothing is approved unless you pass --yes.

--net, --read and --write open more to its program than its entry says.`,
		Example: `  agent mcp trust db
  agent mcp trust db --yes --net registry.npmjs.org`,
	}, func(ctx context.Context) error { return runMCPTrust(ctx, o) })
	o.given.register(c)
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return c
}

func runMCPTrust(ctx context.Context, o *mcpTrustOptions) error {
	e, err := o.s.MCP.Find(ctx, o.label)
	if err != nil {
		return err
	}
	given, err := o.given.wants(o.s)
	if err != nil {
		return err
	}
	switch {
	case e.State == servers.Own:
		return failure.Usage(fmt.Errorf("the server %q is in your own settings: it needs no approval", e.Label), "agent mcp test "+e.Label)
	case e.State == servers.Approved && len(given) == 0:
		return o.done(e, "is approved already")
	case e.Wrong != nil:
		return e.Refused()
	}
	if !o.yes {
		if given, err = o.ask(ctx, e, given); err != nil {
			return err
		}
	}
	if err := o.s.MCP.Approve(ctx, e, given); err != nil {
		return err
	}
	e.State = servers.Approved
	return o.done(e, "is approved as it is now")
}

// ask shows a server, and returns what its program gets if the answer is a yes.
func (o *mcpTrustOptions) ask(ctx context.Context, e *servers.Entry, given want.Set) (want.Set, error) {
	e.Given = given
	details := detailsOf(serverView(o.s, e).facts())
	if !o.s.Approver.There() {
		o.s.Out.Details(details)
		return nil, failure.Denied(errors.New("no terminal to ask on, so nothing was approved"), "--yes approves it without asking")
	}
	answer, err := o.s.Approver.Answer(ctx, e.Question(fmt.Sprintf("Let the agent use the server %q of this project?", e.Label), details))
	given, yes := e.Approved(answer, given)
	return given, refused(yes, err)
}

func detailsOf(facts [][2]string) (out []string) {
	for _, f := range facts {
		out = append(out, fmt.Sprintf("%-10s %s", f[0], f[1]))
	}
	return out
}

func (o *mcpTrustOptions) done(e *servers.Entry, text string) error {
	if o.json {
		return o.s.Out.JSON(map[string]any{"server": serverView(o.s, e)})
	}
	o.s.Out.Printf("%s %s [%s]\n", e.Label, text, output.Short(e.Digest))
	return nil
}

func newMCPUntrustCommand(s *app.Services) *cobra.Command {
	o := &serverOptions{}
	return serverCommand(s, o, &cobra.Command{
		Use:     "untrust LABEL",
		Short:   "Take the approval of a project's server back",
		Long:    `Take the approval of a server that the project proposes back. It is not started any more, and what its program keeps in its home is removed.`,
		Example: `  agent mcp untrust db`,
	}, func(ctx context.Context) error {
		was, err := s.MCP.Withdraw(ctx, o.label)
		switch {
		case err != nil:
			return err
		case !was:
			return failure.NotFound(fmt.Errorf("no server %q of this project was approved", o.label), "agent mcp list")
		case o.json:
			return s.Out.JSON(map[string]any{"untrusted": map[string]string{"label": o.label}})
		}
		s.Out.Printf("%s is not approved any more\n", o.label)
		return nil
	})
}

type mcpGrantOptions struct {
	serverOptions
	given openedFlags
}

func newMCPGrantCommand(s *app.Services) *cobra.Command {
	o := &mcpGrantOptions{given: openedFlags{}}
	c := serverCommand(s, &o.serverOptions, &cobra.Command{
		Use:   "grant LABEL",
		Short: "Open hosts, files and folders to the program of a server",
		Long: `Open hosts, files and folders to the program of a server in the sandbox. For a server of yours they are added to your settings, for one
of the project to your approval of it.`,
		Example: `  agent mcp grant github --net api.github.com
  agent mcp grant notes --write ~/notes`,
	}, func(ctx context.Context) error { return runMCPGrant(ctx, o) })
	o.given.register(c)
	return c
}

func runMCPGrant(ctx context.Context, o *mcpGrantOptions) error {
	e, err := o.s.MCP.Find(ctx, o.label)
	if err != nil {
		return err
	}
	given, err := o.given.wants(o.s)
	switch {
	case err != nil:
		return err
	case len(given) == 0:
		return failure.Usage(errors.New("nothing to open"), "--net HOST, --read DIR or --write DIR")
	case e.URL != "":
		return failure.Usage(fmt.Errorf("server %q is reached by its address: it has no program here", e.Label), "")
	case e.Open:
		return failure.Usage(fmt.Errorf("server %q runs outside of the sandbox: nothing is closed to it", e.Label), "")
	}
	if err := o.s.MCP.Grant(ctx, e, given); err != nil {
		return err
	}
	again := o.s.Again()
	if e, err = again.MCP.Find(ctx, o.label); err != nil {
		return err
	}
	if o.json {
		return o.s.Out.JSON(map[string]any{"server": serverView(again, e)})
	}
	var text []string
	for _, k := range e.Opened().Kinds() {
		text = append(text, k.Title(want.User)+" "+strings.Join(e.Opened().Named(k), ", "))
	}
	o.s.Out.Printf("%s: %s\n", e.Label, strings.Join(text, "; "))
	return nil
}
