package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/servers"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/want"
)

type mcpAddOptions struct {
	s      *app.Services
	server config.Server

	env, headers  []string
	given         openedFlags
	client        string
	port          int64
	noSandbox     bool
	replace, json bool
}

// openedFlags are the flags that open something to the program of a server, as grants of skills have them.
type openedFlags map[want.Kind]*[]string

func (o openedFlags) register(c *cobra.Command) {
	for _, k := range want.Kinds() {
		if !k.Opens() {
			continue
		}
		o[k] = &[]string{}
		if k.Lists() {
			c.Flags().StringSliceVar(o[k], k.Title(want.User), nil, k.Usage())
		} else {
			c.Flags().StringArrayVar(o[k], k.Title(want.User), nil, k.Usage()+" (repeatable)")
		}
	}
	c.Flags().StringSliceVar(o[want.Host], "allow-host", nil, "the same as --net")
	_ = c.Flags().MarkHidden("allow-host")
}

// wants returns what the flags open, in the usual form.
func (o openedFlags) wants(s *app.Services) (want.Set, error) {
	var given want.Set
	for k, names := range o {
		given = given.Add(want.Each(k, want.User, *names...)...)
	}
	return s.Settings.Openable(given)
}

func newMCPAddCommand(s *app.Services) *cobra.Command {
	o := &mcpAddOptions{s: s, given: openedFlags{}}
	c := &cobra.Command{
		Use:   "add LABEL (URL | -- COMMAND [ARGUMENT...])",
		Short: "Add a server of tools to your settings",
		Long: `Add a server of tools to your settings. The agent starts COMMAND when it needs it, or asks URL.

COMMAND runs in the sandbox: it reads the project, changes nothing of it, has a home of its own for each project, and reaches no network.
--net, --read and --write open more, and --no-sandbox lets it run as you. A command that fetches the package of the server, such as npx
or uvx, needs a registry: in a terminal you are asked, elsewhere name it by --net.

--env NAME gives it a variable of your environment, and --env NAME=VALUE a value that then stands in the file. A header may name a
variable as ${NAME}.`,
		Example: `  agent mcp add github --env GITHUB_TOKEN --net registry.npmjs.org,api.github.com -- npx -y @modelcontextprotocol/server-github
  agent mcp add notes --write ~/notes -- uvx mcp-server-notes --dir ~/notes
  agent mcp add linear https://mcp.linear.app/mcp
  agent mcp add ours https://mcp.example.com/mcp --header 'X-Key: ${OUR_KEY}' --tools search,read`,
		Args: arguments(2, -1, "a label, and a URL or -- and a command"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.take(args[0], args[1:]); err != nil {
				return err
			}
			return runMCPAdd(c.Context(), o)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := c.Flags()
	f.StringArrayVarP(&o.env, "env", "e", nil, "a variable of the command, as `NAME` or NAME=VALUE (repeatable)")
	f.StringArrayVarP(&o.headers, "header", "H", nil, "a header of each request, as `'NAME: VALUE'` (repeatable)")
	f.StringSliceVar(&o.server.Tools, "tools", nil, "use only the tools with these `NAMES`")
	f.StringSliceVar(&o.server.Ask, "ask", nil, "always ask before the tools with these `NAMES`, or all")
	f.DurationVar(&o.server.Timeout, "call-timeout", 0, "how long a call may take, as a `TIME` such as 90s")
	f.StringVar(&o.server.Cwd, "cwd", "", "start the command in `DIR` (default: the project)")
	f.BoolVar(&o.noSandbox, "no-sandbox", false, "let the command run as you, with all that you may")
	f.BoolVar(&o.server.Skills, "skills", false, "use the skills of the server, too")
	f.StringVar(&o.client, "client-id", "", "the `ID` of a client that you registered for logging in")
	f.Int64Var(&o.port, "callback-port", 0, "the `PORT` of this machine to which a login comes back")
	f.BoolVar(&o.replace, "replace", false, "in place of a server with this label")
	o.given.register(c)
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// take reads the arguments and the flags.
func (o *mcpAddOptions) take(label string, what []string) error {
	e := &o.server
	e.Label = label
	if err := mcphost.CheckLabel(label); err != nil {
		return failure.Usage(err, "such as: agent mcp add github -- npx -y PACKAGE")
	}
	if strings.Contains(what[0], "://") {
		e.URL = what[0]
		if len(what) > 1 {
			return failure.Usage(fmt.Errorf("unexpected argument %q after the URL", what[1]), "agent mcp add LABEL URL")
		}
		if err := mcphost.CheckURL(e.URL); err != nil && !strings.Contains(e.URL, "${") {
			return failure.Usage(err, "such as https://mcp.example.com/mcp")
		}
	} else {
		e.Command, e.Args = what[0], what[1:]
		if strings.HasPrefix(e.Command, ".") { // where the agent is started later does not matter
			e.Command = o.s.Sys.Abs(e.Command)
		}
	}
	if err := o.takeOthers(); err != nil {
		return err
	}
	var err error
	if e.Opens, err = o.given.wants(o.s); err != nil {
		return err
	}
	if e.Open = o.noSandbox; e.URL != "" && (e.Open || len(e.Opens)+len(e.Env) > 0 || e.Cwd != "") {
		return failure.Usage(errors.New("--env, --cwd, --net, --read, --write and --no-sandbox are for a command, not for a URL"), "agent mcp add --help")
	}
	if e.Command != "" && (len(e.Headers) > 0 || e.OAuth != nil) {
		return failure.Usage(errors.New("--header, --client-id and --callback-port are for a URL, not for a command"), "agent mcp add --help")
	}
	return nil
}

// takeOthers reads the flags with variables, headers and the like.
func (o *mcpAddOptions) takeOthers() error {
	e := &o.server
	for _, text := range o.env {
		name, value, literal := strings.Cut(text, "=")
		if !variable.IsName(name) {
			return failure.Usage(fmt.Errorf("%q is not the name of a variable", name), "--env NAME or --env NAME=VALUE")
		}
		if !literal {
			value = "${" + name + "}"
		} else if script.IsSecret(name, value) {
			o.s.Out.Warn(fmt.Sprintf("the value of %s stands in your settings now: --env %s takes it from your environment", name, name))
		}
		e.Env = put(e.Env, name, value)
	}
	for _, text := range o.headers {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return failure.Usage(fmt.Errorf("%q is not a header", name), "--header 'NAME: VALUE'")
		}
		e.Headers = put(e.Headers, strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if o.client != "" || o.port != 0 {
		e.OAuth = &config.ServerOAuth{ClientID: o.client, CallbackPort: o.port}
	}
	if e.Cwd != "" {
		e.Cwd = o.s.Sys.Abs(e.Cwd)
	}
	if e.Timeout < 0 || e.Timeout > 24*time.Hour {
		return failure.Usage(fmt.Errorf("invalid --call-timeout %s", e.Timeout), "a time up to 24h")
	}
	return nil
}

func put(m map[string]string, name, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}

func runMCPAdd(ctx context.Context, o *mcpAddOptions) error {
	if err := o.s.Settings.NeedRoom(""); err != nil {
		return err
	}
	e, file := &servers.Entry{Server: o.server, State: servers.Own}, o.s.Settings.Config().Paths.UserConfig()
	if have, err := o.s.MCP.Find(ctx, e.Label); err == nil && have.State == servers.Own && !o.replace {
		return failure.Conflict(fmt.Errorf("you have a server %q already: %s", e.Label, have.What()), "choose another label, or add --replace")
	}
	if err := o.s.MCP.Allowed(e); err != nil {
		return err
	}
	if err := o.registry(ctx, e); err != nil {
		return err
	}
	if _, err := config.SetServer(ctx, file, &e.Server); err != nil {
		return err
	}
	again := o.s.Again()
	added, err := again.MCP.Find(ctx, e.Label)
	if err != nil { // the file was read when it was written
		return fmt.Errorf("%s: the server is written, and cannot be read: %w", file, err)
	}
	if o.json {
		return o.s.Out.JSON(map[string]any{"server": serverView(again, added)})
	}
	o.s.Out.Printf("added %s to %s: %s\n", e.Label, file, e.What())
	o.advise(added)
	return nil
}

// registry asks whether the command may reach the registry that it fetches the package of the server from, unless a flag says it.
func (o *mcpAddOptions) registry(ctx context.Context, e *servers.Entry) error {
	hosts := e.Needs()
	if len(hosts) == 0 || len(e.Opens.Kind(want.Host)) > 0 {
		return nil
	}
	yes, err := o.s.Approver.Ask(ctx, &consent.Question{Text: fmt.Sprintf("Let %s reach %s?", e.Label, strings.Join(hosts.Named(want.Host), ", ")),
		Details: []string{fmt.Sprintf("%s fetches the package of the server from there, and runs it in the sandbox.", filepath.Base(e.Command))}})
	if yes {
		e.Opens = e.Opens.Add(hosts...)
	}
	return err
}

// advise says what else the server needs.
func (o *mcpAddOptions) advise(e *servers.Entry) {
	if filepath.Base(e.Command) == "docker" && !e.Open {
		o.s.Out.Warn("docker starts containers by its socket, which no command in the sandbox reaches")
		o.s.Out.Hint("agent mcp add " + e.Label + " --replace --no-sandbox -- " + e.What())
		return
	}
	if hosts := e.Needs(); len(hosts) > 0 {
		o.s.Out.Warn(fmt.Sprintf("%s fetches the package of the server, and reaches no registry yet", filepath.Base(e.Command)))
		o.s.Out.Hint(cure.GrantServer(e.Label, hosts))
		return
	}
	o.s.Out.Remark("agent mcp test " + e.Label + " starts it")
}
