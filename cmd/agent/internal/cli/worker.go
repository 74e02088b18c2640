package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/cmd/agent/internal/serve"
)

type workerOptions struct {
	s        *app.Services
	dir      string
	admitted bool // agent serve started this
	of       fleet.Worker
}

func newWorkerCommand(s *app.Services, run func(context.Context, *workerOptions) error) *cobra.Command {
	o := &workerOptions{s: s}
	c := &cobra.Command{
		Use:   "worker",
		Short: "Run scripts for agent serve --workers",
		Long: `Run scripts for a server of this machine, "agent serve --http ADDR --workers N", which starts N of these itself: a further one
takes runs as well. It waits for a server, and goes on with the next one when that has ended. Scripts run here in the sandbox, with
the grants of the server, in a folder of their run.

Ctrl-C and SIGTERM end the worker with what it runs: those calls fail, and say so. It ends with 0 then.`,
		Example: `  agent worker
  agent worker --at-once 2
  agent worker --dir ~/.agent/node`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "`DIR` of the server's queue (default: the folder node of AGENT_HOME)")
	f.IntVar(&o.of.AtOnce, "at-once", 8, "run at most `N` scripts at the same time")
	f.BoolVar(&o.admitted, "admitted", false, "read from stdin for whom")
	_ = f.MarkHidden("admitted")
	return c
}

func runWorker(ctx context.Context, o *workerOptions) error {
	if o.of.AtOnce < 1 {
		return failure.Usage(fmt.Errorf("invalid --at-once %d", o.of.AtOnce), "use 1 or more")
	}
	if err := o.s.Settings.NeedHome(); err != nil {
		return err
	}
	o.of.Host, o.of.Contents, o.of.Say = o.s.Tools.Worker, o.s.Tools.Contents(), o.s.Out.Remark
	if o.admitted {
		if o.s.Out.InTerminal {
			return failure.Usage(errors.New("agent serve starts agent worker --admitted"), "start one yourself without it")
		}
		return o.of.Admitted(ctx, o.s.Sys.In)
	}
	dir := serve.Node(o.s.Settings)
	if o.dir != "" {
		dir = o.s.Sys.Abs(o.dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return failure.Usage(fmt.Errorf("--dir %q is not a folder", o.dir), "a server with --workers makes it: the folder node of its AGENT_HOME")
		}
	}
	if _, err := o.of.Host(); err != nil { // such as a sandbox that is missing: rather now than with the first run
		return err
	}
	return o.of.ByHand(ctx, dir)
}
