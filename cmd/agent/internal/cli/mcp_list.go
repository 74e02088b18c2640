package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// serverOptions are those of the commands about one server.
type serverOptions struct {
	s     *app.Services
	label string
	json  bool
}

// serverCommand returns a command about the server of its one argument.
func serverCommand(s *app.Services, o *serverOptions, c *cobra.Command, run func(context.Context) error) *cobra.Command {
	o.s = s
	c.Args = arguments(1, 1, "the label of a server")
	c.ValidArgsFunction = completeServers(s)
	c.RunE = func(c *cobra.Command, args []string) error {
		o.label = args[0]
		return run(c.Context())
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// completeServers offers the labels of servers.
func completeServers(s *app.Services) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := s.MCP.List(c.Context())
		for _, e := range list {
			out = append(out, cobra.CompletionWithDesc(e.Label, string(e.State)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// serverJSON is a server in JSON. Of variables and headers it has the names alone.
type serverJSON struct {
	Label   string        `json:"label"`
	State   servers.State `json:"state"`
	Starts  bool          `json:"starts"`
	Origin  string        `json:"origin"`
	Digest  string        `json:"digest"`
	Command string        `json:"command,omitempty"`
	Args    []string      `json:"args,omitempty"`
	Env     []string      `json:"env,omitempty"`
	Cwd     string        `json:"cwd,omitempty"`
	URL     string        `json:"url,omitempty"`
	Headers []string      `json:"headers,omitempty"`
	Login   string        `json:"login,omitempty"` // the issuer of a login
	Only    []string      `json:"only_tools,omitempty"`
	Ask     []string      `json:"ask,omitempty"`
	Skills  bool          `json:"skills,omitempty"`
	Sandbox bool          `json:"sandbox"`          // of a program on this machine
	Opened  want.Set      `json:"opened,omitempty"` // to the program, in the sandbox
	Tools   []string      `json:"tools"`            // as they were last seen
	Problem string        `json:"problem,omitempty"`
	Cure    string        `json:"cure,omitempty"`
}

// serverView returns a server as it is shown.
func serverView(s *app.Services, e *servers.Entry) *serverJSON {
	v := &serverJSON{Label: e.Label, State: e.State, Starts: e.State.Starts(), Origin: e.Origin.String(), Digest: e.Digest, Command: e.Command, Args: e.Args,
		Env: slices.Sorted(maps.Keys(e.Env)), Cwd: e.Cwd, URL: e.URL, Headers: slices.Sorted(maps.Keys(e.Headers)), Only: e.Server.Tools, Ask: e.Ask, Skills: e.Skills,
		Sandbox: e.URL == "" && !e.Open, Opened: e.Opened(), Tools: []string{}}
	v.Login = s.MCP.LoginAt(e)
	return v
}

func newMCPListCommand(s *app.Services) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the servers of tools that the agent uses",
		Long: `List the servers of tools: yours, and those that the project proposes in its settings or in .mcp.json, which are not started before
you approve them. Nothing is started: the number of tools is that of the last time.`,
		Example: `  agent mcp list
  agent mcp list --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return runMCPList(c.Context(), s, json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func runMCPList(ctx context.Context, s *app.Services, json bool) error {
	views, problems, err := serverViews(ctx, s)
	if err != nil {
		return err
	}
	problems = append(slices.Clone(s.Settings.Problems()), problems...)
	if json {
		return s.Out.JSON(map[string]any{"servers": views, "problems": append([]manifest.Problem{}, problems...)})
	}
	if len(views) == 0 {
		s.Out.Printf("No servers. agent mcp add adds one.\n")
	}
	var rows [][]string
	for _, v := range views {
		rows = append(rows, []string{v.Label, string(v.State), toolCount(v), v.what()})
	}
	if len(rows) > 0 {
		if err := s.Out.Table([]string{"LABEL", "STATE", "TOOLS", "WHAT"}, rows); err != nil {
			return err
		}
	}
	for _, p := range problems {
		s.Out.WarnProblem(p)
	}
	return nil
}

// serverViews returns all servers as they are shown, and what is wrong with them.
func serverViews(ctx context.Context, s *app.Services) ([]*serverJSON, []manifest.Problem, error) {
	host, problems, err := s.MCP.Open(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer host.Close()
	list, _ := s.MCP.List(ctx)
	views := []*serverJSON{}
	for _, e := range list {
		v := serverView(s, e)
		v.Tools = toolsOf(host.Known(), e.Label)
		for _, p := range problems {
			if p.File == e.Origin.Name && p.Line == e.Origin.Line && p.Col == e.Origin.Col && p.Code != "config-same-label" {
				v.Problem, v.Cure = p.Message, p.Cure
			}
		}
		views = append(views, v)
	}
	return views, problems, nil
}

// toolsOf returns the names of the tools of a server, without its label.
func toolsOf(tools []tool.Tool, label string) []string {
	out := []string{}
	for _, t := range tools {
		if name, ok := strings.CutPrefix(t.Name, "mcp__"+label+"__"); ok {
			out = append(out, name)
		}
	}
	return out
}

// what says what is started or reached.
func (v *serverJSON) what() string {
	return (&servers.Entry{Server: config.Server{Command: v.Command, Args: v.Args, URL: v.URL}}).What()
}

func toolCount(v *serverJSON) string {
	if len(v.Tools) == 0 {
		return "-"
	}
	return fmt.Sprint(len(v.Tools))
}

func newMCPInfoCommand(s *app.Services) *cobra.Command {
	o := &serverOptions{}
	return serverCommand(s, o, &cobra.Command{
		Use:   "info LABEL",
		Short: "Show what is known of a server",
		Long: `Show what a server is started with or reached at, what its program gets in the sandbox, and its tools as they were last seen. Of
variables and headers the names are shown, and no values. Nothing is started.`,
		Example: `  agent mcp info github`,
	}, func(ctx context.Context) error { return runMCPInfo(ctx, o) })
}

func runMCPInfo(ctx context.Context, o *serverOptions) error {
	if _, err := o.s.MCP.Find(ctx, o.label); err != nil {
		return err
	}
	views, _, err := serverViews(ctx, o.s)
	if err != nil {
		return err
	}
	v := views[slices.IndexFunc(views, func(v *serverJSON) bool { return v.Label == o.label })]
	if o.json {
		return o.s.Out.JSON(map[string]any{"server": v})
	}
	o.s.Out.Facts(v.facts())
	if v.Problem != "" {
		o.s.Out.WarnProblem(manifest.Problem{Message: v.Problem, Cure: v.Cure})
	}
	return nil
}

// facts are the lines that show a server.
func (v *serverJSON) facts() [][2]string {
	lines := [][2]string{{"label", v.Label}, {"state", string(v.State)}, {"from", v.Origin}}
	add := func(name string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			lines = append(lines, [2]string{name, text})
		}
	}
	if v.Command != "" {
		add("command", v.what())
		add("sandbox", onOff(v.Sandbox))
	}
	add("address", v.URL)
	add("login", v.Login)
	add("starts in", v.Cwd)
	add("variables", v.Env...)
	add("headers", v.Headers...)
	for _, k := range want.Kinds() {
		if k.Opens() {
			add(k.Title(want.Declared), v.Opened.Named(k)...)
		}
	}
	add("only tools", v.Only...)
	add("asks about", v.Ask...)
	add("tools", v.Tools...)
	return lines
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off: it runs as you"
}

func newMCPRemoveCommand(s *app.Services) *cobra.Command {
	o := &serverOptions{}
	return serverCommand(s, o, &cobra.Command{
		Use:     "remove LABEL",
		Aliases: []string{"rm"},
		Short:   "Remove a server from your settings",
		Long: `Remove a server from your settings, with its login and what its program keeps in the home that it has in the sandbox. What a project
proposes stays in the project's file; "agent mcp untrust" takes your approval back.`,
		Example: `  agent mcp remove github`,
	}, func(ctx context.Context) error { return runMCPRemove(ctx, o) })
}

func runMCPRemove(ctx context.Context, o *serverOptions) error {
	e, err := o.s.MCP.Find(ctx, o.label)
	if err != nil {
		return err
	}
	if e.State != servers.Own {
		return failure.Usage(fmt.Errorf("the server %q is not in your settings: the project proposes it in %s", e.Label, e.Origin), cure.UntrustServer(e.Label))
	}
	if e.URL != "" {
		if _, _, err := o.s.MCP.Logout(ctx, e); err != nil {
			o.s.Out.Warn(fmt.Sprintf("the authorization server was not told that you log out: %v", err))
		}
	}
	file := o.s.Settings.Config().Paths.UserConfig()
	if _, err := config.RemoveServer(ctx, file, e.Label); err != nil {
		return err
	}
	o.s.MCP.Forget(e)
	if o.json {
		return o.s.Out.JSON(map[string]any{"removed": map[string]string{"label": e.Label, "file": file}})
	}
	o.s.Out.Printf("removed %s from %s\n", e.Label, file)
	return nil
}
