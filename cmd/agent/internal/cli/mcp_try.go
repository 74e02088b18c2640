package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/oauth"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/want"
)

func newMCPTestCommand(s *app.Services) *cobra.Command {
	o := &serverOptions{}
	return serverCommand(s, o, &cobra.Command{
		Use:   "test LABEL",
		Short: "Start a server, and show its tools",
		Long: `Start a server or ask it at its address, and show the revision of the protocol, what it calls itself and its tools. A tool that has changed
since it was last seen is used again after that: you have looked at it.

In a terminal you are asked about the hosts that it was refused. The exit code is 0 if it works, 1 if not, 3 for an unknown label, 5 if it
is not approved or wants a login, and 124 if it did not answer in time.`,
		Example: `  agent mcp test github
  agent mcp test github --json`,
	}, func(ctx context.Context) error { return runMCPTest(ctx, o) })
}

// tried is what a test of a server found.
type tried struct {
	Label        string   `json:"label"`
	Protocol     string   `json:"protocol"`
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Features     []string `json:"features"`
	Tools        []string `json:"tools"`
	Changed      []string `json:"changed"` // tools that are not what they were when they were seen
	Problems     []string `json:"problems"`
	Milliseconds int64    `json:"ms"`
}

func runMCPTest(ctx context.Context, o *serverOptions) error {
	e, err := o.s.MCP.Find(ctx, o.label)
	if err != nil {
		return err
	}
	if !e.State.Starts() {
		return failure.Denied(fmt.Errorf("the server %q of the project is not approved, so it is not started: %s", e.Label, e.What()), cure.TrustServer(e.Label))
	}
	if err := o.s.MCP.Check(e); err != nil {
		return err
	}
	for {
		found, err := o.try(ctx, e)
		if err == nil {
			return o.show(found)
		}
		more, asked := o.open(ctx, e, err)
		if asked != nil || !more {
			return errors.Join(asked, err)
		}
		if e, err = o.s.MCP.Find(ctx, o.label); err != nil {
			return err
		}
	}
}

// try starts the server.
func (o *serverOptions) try(ctx context.Context, e *servers.Entry) (*tried, error) {
	host, _, err := o.s.MCP.Open(ctx, &servers.Options{Only: e.Label})
	if err != nil {
		return nil, err
	}
	defer host.Close()
	begun := time.Now()
	if err := o.s.Out.Busy("starting "+e.Label, func() error { return host.Start(ctx, e.Label) }); err != nil {
		return nil, err
	}
	took := time.Since(begun)
	changed := changesOf(host.Changes(e.Label))
	host.Accept(ctx, e.Label)
	tools, err := host.Tools(ctx)
	i := host.Info(e.Label)
	out := &tried{Label: e.Label, Protocol: i.Protocol, Name: i.Name, Version: i.Version, Features: append([]string{}, i.Features...), Tools: toolsOf(tools, e.Label), Changed: changed, Problems: []string{}, Milliseconds: took.Milliseconds()}
	for _, p := range i.Problems {
		out.Problems = append(out.Problems, p.Error())
	}
	return out, err
}

// open asks about the hosts that a server was refused, if a person is there, and opens them. It reports whether there is more now.
func (o *serverOptions) open(ctx context.Context, e *servers.Entry, failed error) (bool, error) {
	lack, ok := errors.AsType[*servers.LackError](failed)
	if !ok || len(lack.Wants.Named(want.Host)) == 0 || !o.s.Approver.There() {
		return false, nil
	}
	hosts := want.Each(want.Host, want.User, lack.Wants.Named(want.Host)...)
	yes, err := o.s.Approver.Ask(ctx, &consent.Question{Text: fmt.Sprintf("Let %s reach %s from now on?", e.Label, strings.Join(hosts.Named(want.Host), ", ")), Details: []string{failed.Error()}})
	if err != nil || !yes {
		return false, err
	}
	if err := o.s.MCP.Grant(ctx, e, hosts); err != nil {
		return false, err
	}
	o.s = o.s.Again()
	return true, nil
}

func (o *serverOptions) show(t *tried) error {
	if o.json {
		return o.s.Out.JSON(map[string]any{"test": t})
	}
	o.s.Out.Printf("%s works: %s %s, MCP %s, %d tools, %d ms\n", t.Label, output.OrDash(t.Name), t.Version, t.Protocol, len(t.Tools), t.Milliseconds)
	for _, name := range t.Tools {
		o.s.Out.Printf("  %s\n", name)
	}
	for _, c := range t.Changed {
		o.s.Out.Printf("  %s\n", c)
	}
	for _, p := range t.Problems {
		o.s.Out.Warn(p)
	}
	return nil
}

// changesOf says how tools differ from what they were when they were seen.
func changesOf(changes []mcphost.Change) []string {
	out := []string{}
	for _, c := range changes {
		text := "its arguments are others"
		if c.Was.Description != c.Now.Description {
			text = fmt.Sprintf("it said %q, and says %q", c.Was.Description, c.Now.Description)
		}
		out = append(out, fmt.Sprintf("%s has changed, and is used as it is now: %s", c.Now.Name, text))
	}
	return out
}

type mcpLoginOptions struct {
	serverOptions
	scopes    []string
	noBrowser bool
	wait      time.Duration
}

func newMCPLoginCommand(s *app.Services) *cobra.Command {
	o := &mcpLoginOptions{}
	c := serverCommand(s, &o.serverOptions, &cobra.Command{
		Use:   "login LABEL",
		Short: "Log in to a server that is reached at an address",
		Long: `Log in to a server. Open the address that is printed in a browser of this machine; in a terminal that is done for you. The server's
authorization server sends you back here, and the login is kept in your state, in a file that only you read, and renewed when it runs out.
It is sent to that server and to nobody else.`,
		Example: `  agent mcp login linear
  agent mcp login linear --no-browser`,
	}, func(ctx context.Context) error { return runMCPLogin(ctx, o) })
	f := c.Flags()
	f.StringSliceVar(&o.scopes, "scope", nil, "ask for `SCOPES` besides those that the server names")
	f.BoolVar(&o.noBrowser, "no-browser", false, "print the address and open no browser")
	f.DurationVar(&o.wait, "wait", 5*time.Minute, "how long you may take, as a `TIME` such as 10m")
	return c
}

func runMCPLogin(ctx context.Context, o *mcpLoginOptions) error {
	e, err := o.s.MCP.Find(ctx, o.label)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	t, err := o.s.MCP.Login(limited, e, &servers.LoginOptions{Scopes: o.scopes, Show: o.browse})
	switch {
	case errors.Is(err, oauth.ErrNoLogin):
		return failure.Usage(fmt.Errorf("%s: %w", e.Label, err), "agent mcp test "+e.Label)
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return fmt.Errorf("nobody logged in within %s: %w", o.wait, limited.Err())
	case err != nil:
		return fmt.Errorf("%s: %w", e.Label, err)
	}
	if o.json {
		return o.s.Out.JSON(map[string]any{"login": map[string]any{"label": e.Label, "issuer": t.Issuer, "resource": t.Resource, "scopes": append([]string{}, t.Scopes...)}})
	}
	o.s.Out.Printf("logged in to %s at %s\n", e.Label, t.Issuer)
	return nil
}

// browse shows the address at which a person logs in, and opens it in a browser if they sit at a terminal.
func (o *mcpLoginOptions) browse(ctx context.Context, address string) error {
	o.s.Out.Remark("log in at " + address)
	if o.noBrowser || !o.s.Out.InTerminal {
		return nil
	}
	o.s.Settings.Browse(ctx, address)
	return nil
}

func newMCPLogoutCommand(s *app.Services) *cobra.Command {
	o := &serverOptions{}
	return serverCommand(s, o, &cobra.Command{
		Use:     "logout LABEL",
		Short:   "Forget the login at a server",
		Long:    `Forget the login at a server, and tell its authorization server, if that takes tokens back.`,
		Example: `  agent mcp logout linear`,
	}, func(ctx context.Context) error {
		e, err := s.MCP.Find(ctx, o.label)
		if err != nil {
			return err
		}
		t, revoked, err := s.MCP.Logout(ctx, e)
		switch {
		case t == nil && err != nil:
			return err
		case t == nil:
			return failure.NotFound(fmt.Errorf("you are not logged in to %s", e.Label), cure.LoginServer(e.Label))
		case err != nil:
			s.Out.Warn(fmt.Sprintf("the authorization server was not told: %v", err))
		}
		if o.json {
			return s.Out.JSON(map[string]any{"logout": map[string]any{"label": e.Label, "issuer": t.Issuer, "revoked": revoked}})
		}
		s.Out.Printf("logged out of %s\n", e.Label)
		return nil
	})
}
