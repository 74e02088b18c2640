package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/script"
)

type workerOptions struct {
	s        *app.Services
	dir      string
	admitted bool // agent serve started this
	remote   remoteOptions
	name     string // with a server
	signers  string // likewise: a file
	of       fleet.Worker
}

func newWorkerCommand(s *app.Services, run func(context.Context, *workerOptions) error) *cobra.Command {
	o := &workerOptions{s: s}
	c := &cobra.Command{
		Use:   "worker",
		Short: "Run scripts for agent serve --workers",
		Long: `Run scripts for a server of this machine, "agent serve --http ADDR --workers N", which starts N of these itself: a further one
takes runs as well. It waits for a server, and goes on with the next one when that has ended. With --server it takes those of
"agent serve --http ADDR" with the setting serve.server, on any machine. Scripts run here in the sandbox, with the grants and the
variables of the server, in a folder of their run.

Ctrl-C and SIGTERM end the worker with what it runs: those calls fail, and say so. "agent fleet drain" lets it end what it runs first.
It ends with 0 then.`,
		Example: `  agent worker
  agent worker --at-once 2
  agent worker --dir ~/.agent/node
  agent worker --server tls://10.0.0.1:4222 --ca ca.crt --creds w1.creds --signers signer.pub
  agent worker credentials w1`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "`DIR` of the server's queue (default: the folder node of AGENT_HOME)")
	f.IntVar(&o.of.AtOnce, "at-once", 8, "run at most `N` scripts at the same time")
	o.remote.flags(f, "take runs from the queue of the node or NATS server at `URL`")
	f.StringVar(&o.name, "name", "", "with --server: `NAME` of this worker, which its credentials let in and no other worker has (default: the name in them)")
	f.StringVar(&o.signers, "signers", "", "with --server: `FILE` with the keys of the servers whose orders count: their signer.pub")
	f.BoolVar(&o.admitted, "admitted", false, "read from stdin for whom")
	_ = f.MarkHidden("admitted")
	c.AddCommand(newCredentialsCommand(s))
	return c
}

func runWorker(ctx context.Context, o *workerOptions) error {
	if o.of.AtOnce < 1 {
		return failure.Usage(fmt.Errorf("invalid --at-once %d", o.of.AtOnce), "use 1 or more")
	}
	if err := o.s.Settings.NeedHome(); err != nil {
		return err
	}
	o.of.Version = setup.Version
	o.of.Host, o.of.Contents, o.of.Say = o.host, o.s.Tools.Contents(), o.s.Out.Remark
	if o.admitted {
		if o.s.Out.InTerminal {
			return failure.Usage(errors.New("agent serve starts agent worker --admitted"), "start one yourself without it")
		}
		err := o.of.Admitted(ctx, o.s.Sys.In)
		if errors.Is(err, dispatch.ErrDrained) {
			return failure.Silent(fleet.Drained)
		}
		return err
	}
	dir := o.s.Settings.Config().Paths.Node()
	if o.dir != "" {
		dir = o.s.Sys.Abs(o.dir)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return failure.Usage(fmt.Errorf("--dir %q is not a folder", o.dir), "a server with --workers makes it: the folder node of its AGENT_HOME")
		}
	}
	remote, err := o.remote.open(o.s)
	if err != nil {
		return err
	}
	if _, err := o.host(""); err != nil { // such as a sandbox that is missing: rather now than with the first run
		return err
	}
	if remote == nil {
		return o.drained(o.of.ByHand(ctx, dir))
	}
	name := cmp.Or(o.name, node.WorkerOf(remote.Creds))
	if name == "" || o.signers == "" {
		return failure.Usage(errors.New("agent worker --server needs --signers, and --name where the credentials have none"), "a server makes the file signer.pub, in the folder node of its AGENT_HOME")
	}
	keys, err := fleet.Signers(o.s.Sys.Abs(o.signers))
	if err != nil {
		return failure.Usage(fmt.Errorf("--signers: %w", err), "name a file signer.pub of a server")
	}
	return o.drained(o.of.For(ctx, remote, name, keys))
}

// drained returns the error of a worker that has ended; nil if it was drained.
func (o *workerOptions) drained(err error) error {
	if errors.Is(err, dispatch.ErrDrained) {
		o.s.Out.Remark("the worker was drained, and ends")
		return nil
	}
	return err
}

// host returns the options of the host of a tenant.
func (o *workerOptions) host(tenant string) (*script.Options, error) {
	s := o.s
	if tenant != "" {
		s = s.For(tenant)
	}
	if err := s.Settings.NeedTenant(); err != nil {
		return nil, err
	}
	return s.Tools.Worker()
}

// remoteOptions are the flags about a NATS server.
type remoteOptions struct{ url, creds, ca string }

func (o *remoteOptions) flags(f *pflag.FlagSet, about string) {
	f.StringVar(&o.url, "server", "", about)
	f.StringVar(&o.creds, "creds", "", "with --server: `FILE` of credentials, as NATS has it")
	f.StringVar(&o.ca, "ca", "", "with --server: `FILE` of the certificates that sign that of the server (default: those of the system)")
}

// open reads the credentials. It returns nil if no server was named.
func (o *remoteOptions) open(s *app.Services) (*node.Remote, error) {
	if (o.url == "") != (o.creds == "") {
		return nil, failure.Usage(errors.New("--server and --creds belong together"), "name both: the address of a NATS server, and a file of credentials for it")
	}
	if o.url == "" {
		return nil, nil
	}
	creds, err := setup.Secret(s.Sys.Abs(o.creds), s.Sys.Getenv(setup.Credentials))
	if err != nil {
		return nil, err
	}
	remote := &node.Remote{URL: o.url, Creds: creds}
	if o.ca != "" {
		remote.CA = s.Sys.Abs(o.ca)
	}
	return remote, nil
}
