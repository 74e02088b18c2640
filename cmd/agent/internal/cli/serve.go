package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/serve"
)

type serveOptions struct {
	s      *app.Services
	http   serve.HTTPOptions
	shared []string // flags of all commands that were given
}

func newServeCommand(s *app.Services, run func(context.Context, *serveOptions) error) *cobra.Command {
	o := &serveOptions{s: s}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve skills to another agent over MCP",
		Long: `Serve the skills of this folder and user to another agent, over the Model Context Protocol on stdin and stdout. The other agent
starts this command itself: its configuration names it. With --http it listens for agents on this machine, or, with the settings
serve.tokens or serve.issuer, for those that have a token.

The agent gets tools to search, activate and read skills, and to run their scripts. Scripts run here, in the sandbox, with the
grants that they have here. A skill that is not trusted is not run. Where the other agent can ask you, it does; else its answer
names the command to type.`,
		Example: `  agent serve
  agent serve --project ~/src/site
  claude mcp add skills -- agent serve
  codex mcp add skills -- agent serve
  agent serve --http 127.0.0.1:8080
  agent serve --http 127.0.0.1:8080 --workers 4`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			o.shared = given(c.InheritedFlags())
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.http.Addr, "http", "", "listen on `ADDR`, a host and a port, in place of stdin")
	f.StringArrayVar(&o.http.Hosts, "host", nil, "with --http: a `NAME` of the server, as clients write it (repeatable)")
	f.StringArrayVar(&o.http.Origins, "origin", nil, "with --http: a web page that may call, such as https://app.example.com (repeatable)")
	f.IntVar(&o.http.Workers, "workers", 0, "with --http: run scripts in `N` processes of their own, which get them from a queue")
	f.StringVar(&o.http.Health, "health", "", "with --http: answer /healthz, /readyz and /metrics on `ADDR`")
	return c
}

func runServe(ctx context.Context, o *serveOptions) error {
	if o.http.Addr != "" {
		return serveHTTP(ctx, o)
	}
	if o.http.Health != "" || len(o.http.Hosts)+len(o.http.Origins) > 0 || o.http.Workers != 0 {
		return failure.Usage(errors.New("--host, --origin, --workers and --health are for --http"), "add --http ADDR, or leave them out")
	}
	if o.s.Out.InTerminal {
		return failure.Usage(errors.New("agent serve speaks MCP on stdin, which is a terminal here"), "name it in the configuration of another agent: agent serve --help has examples")
	}
	server, err := serve.New(ctx, o.s, false)
	if err != nil {
		return err
	}
	defer server.Close()
	return server.Stdio(ctx, o.s.Sys.In, o.s.Sys.Out)
}

// maxWorkers is how many workers one server starts.
const maxWorkers = 64

func serveHTTP(ctx context.Context, o *serveOptions) error {
	if o.http.Workers < 0 || o.http.Workers > maxWorkers {
		return failure.Usage(fmt.Errorf("invalid --workers %d", o.http.Workers), fmt.Sprintf("use 1 to %d, or leave it out", maxWorkers))
	}
	if o.http.Workers > 0 && o.s.Settings.Config().Serve.Server != "" {
		return failure.Usage(errors.New("--workers and the setting serve.server exclude each other"), "leave out --workers, and start agent worker --server for each")
	}
	if c := o.s.Settings.Config().Serve; c.PodImage != "" && (o.http.Workers > 0 || c.Server != "") {
		return failure.Usage(errors.New("with the setting serve.podImage each script runs in a pod of its own"), "leave out --workers and serve.server, or serve.podImage")
	}
	o.http.Command = o.worker
	server, err := serve.New(ctx, o.s, true)
	if err != nil {
		return err
	}
	defer server.Close()
	err = server.HTTP(ctx, &o.http, func(at net.Addr) { o.s.Out.Remark("serving skills on http://" + at.String()) })
	if errors.Is(err, serve.ErrOpen) {
		return failure.Usage(err, "listen on 127.0.0.1, or set serve.tokens or serve.issuer: see docs/mcp.md")
	}
	if errors.Is(err, serve.ErrQueue) {
		return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Err: err, Hint: "AGENT_HOME=DIR has it in another folder; without --workers, and the settings serve.listen and serve.server, there is none"}
	}
	if errors.Is(err, serve.ErrPods) {
		return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Err: err, Hint: "see Kubernetes in docs/fleet.md; without the setting serve.podImage scripts do not run in pods"}
	}
	return err
}

// worker returns the command of a worker, with the flags of this one that are for all commands.
func (o *serveOptions) worker() *exec.Cmd {
	own, err := os.Executable()
	if err != nil {
		own = os.Args[0] // as it was called
	}
	c := exec.Command(own)
	c.Args = append([]string{"agent", "worker", "--admitted"}, o.shared...)
	c.Env, c.Dir, c.Stderr = o.s.Sys.ForWorkers(), o.s.Sys.Dir, o.s.Sys.Err
	return c
}

// given returns the flags that were given, as they are written.
func given(f *pflag.FlagSet) (out []string) {
	f.Visit(func(one *pflag.Flag) {
		values := []string{one.Value.String()}
		if list, ok := one.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+one.Name+"="+v)
		}
	})
	return out
}
