package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/replica"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

func newFleetCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "fleet",
		Short: "Bring what this machine has into a fleet",
		Long: `A fleet is several servers that share approvals, grants and the list of installed skills. They are kept in a node: a folder that one
process has, and that the others of the same user reach through it.`,
		Example: `  agent fleet import --dry-run`,
	})
	c.AddCommand(newFleetImportCommand(s, runFleetImport))
	return c
}

type fleetOptions struct {
	s            *app.Services
	dir          string
	dryRun, json bool
}

func newFleetImportCommand(s *app.Services, run func(context.Context, *fleetOptions) error) *cobra.Command {
	o := &fleetOptions{s: s}
	c := &cobra.Command{
		Use:   "import",
		Short: "Bring the approvals, grants and installed skills of this machine into a fleet",
		Long: `Bring the approvals, the grants and the list of installed skills of this machine into the node of a fleet. The files stay as they are.

It only adds. What the fleet has stays as it is, also where this machine says something else, and what was taken back in the fleet
is not brought again. What is of one machine alone is left, with the reason: trusted folders, approvals and grants of skills in your own
folders, grants that name a folder or give the home, and skills that are linked or were installed from a folder. So a second run
changes nothing.`,
		Example: `  agent fleet import --dry-run
  agent fleet import
  AGENT_TENANT=acme agent fleet import --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "`DIR` of the node (default: the folder node of AGENT_HOME)")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be brought, and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// importJSON is the output of agent fleet import --json.
type importJSON struct {
	Node   string `json:"node"`
	Tenant string `json:"tenant,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
	*replica.Report
}

func runFleetImport(ctx context.Context, o *fleetOptions) error {
	s := o.s
	if err := s.Settings.NeedHome(); err != nil {
		return err
	}
	var from replica.Files
	var err error
	if from.Trust, err = s.Trust.OfMachine(ctx); err != nil {
		return err
	}
	if from.Skills, err = s.Settings.Installed().Load(ctx); err != nil {
		return err
	}
	cfg := s.Settings.Config()
	dir := cfg.Paths.Node()
	if o.dir != "" {
		dir = s.Sys.Abs(o.dir)
	}
	var to *replica.Replica
	if _, missing := os.Stat(dir); !o.dryRun || missing == nil {
		to = s.Settings.FleetIn(dir, s.Out.Warn)
		defer to.Close()
	}
	r, err := to.Import(ctx, from, !o.dryRun)
	if errors.Is(err, node.ErrBusy) {
		return failure.Conflict(err, "--dir DIR names another folder")
	}
	if err != nil {
		return err
	}
	if o.json {
		return s.Out.JSON(importJSON{dir, cfg.Tenant, o.dryRun, r})
	}
	return o.show(dir, r)
}

func (o *fleetOptions) show(dir string, r *replica.Report) error {
	done, verb := "brought", "Brought"
	if o.dryRun {
		done, verb = "would bring", "Would bring"
	}
	var rows [][]string
	for _, i := range r.Brought {
		rows = append(rows, []string{done, i.Kind, i.Name, output.Short(i.Digest)})
	}
	for _, i := range r.Left {
		rows = append(rows, []string{"left", i.Kind, i.Name, i.Why})
	}
	if len(rows) > 0 {
		if err := o.s.Out.Table([]string{"", "KIND", "NAME", "CONTENT, OR WHY"}, rows); err != nil {
			return err
		}
		o.s.Out.Printf("\n")
	}
	o.s.Out.Printf("%s %s into the fleet of %s; %d were there, %d left\n", verb, output.Count(len(r.Brought), "thing"), dir, len(r.There), len(r.Left))
	return nil
}
