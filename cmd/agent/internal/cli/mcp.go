package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/hosts"
	"github.com/agent-base/agent-base/internal/diff"
	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/mcphost"
)

func newMCPCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "mcp",
		Short: "Use servers of tools, and name this one of skills in other agents' configurations",
		Example: `  agent mcp add github -- npx -y @modelcontextprotocol/server-github
  agent mcp list
  agent mcp test github
  agent mcp install claude`,
	})
	c.AddCommand(newMCPAddCommand(s), newMCPListCommand(s), newMCPInfoCommand(s), newMCPTestCommand(s), newMCPGrantCommand(s), newMCPRemoveCommand(s),
		newMCPTrustCommand(s), newMCPUntrustCommand(s), newMCPLoginCommand(s), newMCPLogoutCommand(s), newMCPInstallCommand(s, runMCPInstall), newMCPConfigCommand(s, runMCPConfig))
	return c
}

type mcpOptions struct {
	s            *app.Services
	client, name string
	undo, dryRun bool
	json         bool
}

func newMCPInstallCommand(s *app.Services, run func(context.Context, *mcpOptions) error) *cobra.Command {
	o := &mcpOptions{s: s}
	c := &cobra.Command{
		Use:   "install AGENT",
		Short: "Have another agent start this server of skills",
		Long: `Add "agent serve" to the MCP servers of another agent, in the configuration that it has in your home. Everything else in the file
stays as it is; a copy of the file before the first change is kept beside it, with ".before-agent" at its end.
AGENT is one of ` + strings.Join(hosts.MCPClients(), ", ") + `.`,
		Example: `  agent mcp install claude
  agent mcp install codex --dry-run
  agent mcp install gemini --undo`,
		Args:              arguments(1, 1, "the name of an agent"),
		ValidArgsFunction: cobra.FixedCompletions(hosts.MCPClients(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			o.client = args[0]
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.name, "name", "skills", "the `NAME` of the server in the configuration")
	f.BoolVar(&o.undo, "undo", false, "take the server out again")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the change and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func newMCPConfigCommand(s *app.Services, run func(context.Context, *mcpOptions) error) *cobra.Command {
	o := &mcpOptions{s: s}
	c := &cobra.Command{
		Use:               "config AGENT",
		Short:             "Print what another agent's configuration needs",
		Long:              `Print the lines that have another agent start "agent serve", and the file they belong to. It writes nothing.`,
		Example:           `  agent mcp config codex`,
		Args:              arguments(1, 1, "the name of an agent"),
		ValidArgsFunction: cobra.FixedCompletions(hosts.MCPClients(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			o.client = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.name, "name", "skills", "the `NAME` of the server in the configuration")
	return c
}

// find returns the configuration of the client, and the server as it is to name it.
func (o *mcpOptions) find() (*hosts.MCPConfig, *hosts.MCPServer, error) {
	if o.s.Sys.Home == "" {
		return nil, nil, o.s.Settings.NeedHome()
	}
	c, ok := hosts.FindMCP(o.client, o.s.Sys.Home, runtime.GOOS)
	if !ok {
		hint := "one of " + strings.Join(hosts.MCPClients(), ", ")
		if meant := near.Name(o.client, hosts.MCPClients()); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
		}
		return nil, nil, failure.Usage(fmt.Errorf("the configuration of an agent %q is not known", o.client), hint)
	}
	if err := mcphost.CheckLabel(o.name); err != nil {
		return nil, nil, failure.Usage(err, "use letters, digits, - and _")
	}
	command, err := o.command()
	return c, &hosts.MCPServer{Name: o.name, Command: command, Args: []string{"serve"}}, err
}

// command returns the path of this program, as PATH has it if that is this one: a manager of packages may put the next version elsewhere.
func (o *mcpOptions) command() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	found, err := o.s.Sys.LookPath("agent")
	if err != nil || !filepath.IsAbs(found) && !errors.Is(err, exec.ErrDot) {
		return own, nil //nolint:nilerr // it is not in PATH
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(own)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return found, nil
	}
	return own, nil
}

func runMCPConfig(_ context.Context, o *mcpOptions) error {
	c, server, err := o.find()
	if err != nil {
		return err
	}
	o.s.Out.Remark(c.Title + " reads " + c.File)
	return o.s.Out.Foreign(c.Entry(server))
}

func runMCPInstall(ctx context.Context, o *mcpOptions) error {
	c, server, err := o.find()
	if err != nil {
		return err
	}
	change := c.With
	if o.undo {
		change = undone(c)
	}
	var before, after []byte
	file := &lockfile.File{Path: c.File, Lock: o.lock()}
	err = file.Transform(ctx, func(old []byte) (made document.Change, err error) {
		before = old
		if after, err = change(old, server); err != nil || o.dryRun {
			return made, err
		}
		if _, err := os.Lstat(c.File + keptEnd); !o.undo && errors.Is(err, os.ErrNotExist) { // it is as it was before the first change
			made.Keep = keptEnd
		}
		made.Content = after
		return made, nil
	})
	switch {
	case errors.Is(err, hosts.ErrExists):
		return failure.Conflict(fmt.Errorf("%s: %w", c.File, err), "choose another name with --name, or remove that server")
	case err != nil:
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return o.report(c, string(before), string(after))
}

// undone returns what takes a server out of a configuration. Where nothing else has changed since, the text is the one that was kept.
func undone(c *hosts.MCPConfig) func([]byte, *hosts.MCPServer) ([]byte, error) {
	return func(text []byte, server *hosts.MCPServer) ([]byte, error) {
		kept, err := lockfile.Read(c.File+keptEnd, 0)
		if err == nil && len(kept) > 0 && !bytes.Equal(kept, text) {
			if with, err := c.With(kept, server); err == nil && bytes.Equal(with, text) {
				return kept, nil
			}
		}
		return c.Without(text, server)
	}
}

// keptEnd is at the end of the name of the copy of a configuration.
const keptEnd = ".before-agent"

// lock returns the file that is locked while a configuration changes; "" for one beside it.
func (o *mcpOptions) lock() string {
	if dir := o.s.Settings.Config().Paths.State(); dir != "" && os.MkdirAll(dir, 0o700) == nil {
		return filepath.Join(dir, "mcp-install.lock")
	}
	return ""
}

func (o *mcpOptions) report(c *hosts.MCPConfig, before, after string) error {
	changed := before != after
	if o.json {
		return o.s.Out.JSON(map[string]any{"install": map[string]any{"agent": o.client, "file": c.File, "server": o.name, "changed": changed && !o.dryRun}})
	}
	switch {
	case !changed && o.undo:
		o.s.Out.Printf("%s names no such server: %s\n", c.Title, c.File)
	case !changed:
		o.s.Out.Printf("%s starts this server already: %s\n", c.Title, c.File)
	case o.dryRun:
		return o.s.Out.Foreign(c.File + "\n" + strings.Join(diff.Of([]byte(before), []byte(after), diff.Options{}).Lines, "\n") + "\n")
	case o.undo:
		o.s.Out.Printf("%s does not start this server any more: %s\n", c.Title, c.File)
	default:
		o.s.Out.Printf("%s starts this server when it is started next: %s\n", c.Title, c.File)
	}
	return nil
}
