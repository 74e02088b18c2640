package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/replica"
)

func newFleetCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "fleet",
		Short: "Look at servers and workers, and share approvals between servers",
		Long: `A fleet is servers that share a queue, workers that run scripts from it, and, with the setting state: fleet, approvals, grants and the list
of installed skills. They are kept in nodes: one process has the folder of a node open, and the other processes of the user reach the node
through that process.`,
		Example: `  agent fleet status
  agent fleet drain w1 --wait
  agent fleet import --dry-run`,
	})
	c.AddCommand(newFleetCreateCommand(s), newFleetStatusCommand(s), newFleetWorkersCommand(s), newFleetJobsCommand(s), newFleetDrainCommand(s),
		newFleetImportCommand(s, runFleetImport), newFleetLogCommand(s, runFleetLog))
	return c
}

type fleetOptions struct {
	s            *app.Services
	dryRun, json bool
	limit        int
}

// open returns the state of the fleet. It returns nil if there is no node yet and write is not set. The caller closes it.
func (o *fleetOptions) open(write bool) (*replica.Replica, error) {
	if err := o.s.Settings.NeedHome(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.s.Settings.Where()); errors.Is(err, fs.ErrNotExist) && !write && o.s.Settings.Config().Serve.Server == "" {
		return nil, nil
	}
	return o.s.Settings.Shared(), nil
}

func newFleetImportCommand(s *app.Services, run func(context.Context, *fleetOptions) error) *cobra.Command {
	o := &fleetOptions{s: s}
	c := &cobra.Command{
		Use:   "import",
		Short: "Bring the approvals, grants and installed skills of this machine into a fleet",
		Long: `Bring the approvals, the grants and the list of installed skills of this machine into the node of a fleet. The files of this machine
are not changed.

The import only adds. An entry that the fleet has is not changed, even if this machine has a different one. An entry that was taken back
in the fleet is not brought again. An entry that has a meaning on one machine only is left, and the reason is shown: trusted folders,
approvals and grants of skills in your own folders, grants that name a folder or give the home, and skills that are linked or were
installed from a folder. A second import changes nothing.`,
		Example: `  agent fleet import --dry-run
  agent fleet import
  AGENT_TENANT=acme agent fleet import --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what would be brought, and write nothing")
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
	var from replica.Files
	var err error
	if from.Trust, err = s.Trust.OfMachine(ctx); err != nil {
		return err
	}
	if from.Skills, err = s.Settings.Installed().Load(ctx); err != nil {
		return err
	}
	to, err := o.open(!o.dryRun)
	if err != nil {
		return err
	}
	defer to.Close()
	r, err := to.Import(ctx, from, !o.dryRun)
	if err != nil {
		return err
	}
	if o.json {
		return s.Out.JSON(importJSON{s.Settings.Where(), s.Settings.Config().Tenant, o.dryRun, r})
	}
	return o.show(r)
}

func (o *fleetOptions) show(r *replica.Report) error {
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
	o.s.Out.Printf("%s %s into the fleet of %s; %d there already, %d left\n", verb, output.Count(len(r.Brought), "thing"), o.s.Settings.Where(), len(r.There), len(r.Left))
	return nil
}

func newFleetLogCommand(s *app.Services, run func(context.Context, *fleetOptions) error) *cobra.Command {
	o := &fleetOptions{s: s}
	c := &cobra.Command{
		Use:   "log",
		Short: "Show what was approved, granted, installed and taken back in a fleet",
		Long: `Show the log of a fleet, the newest record last: what was approved, granted, installed and taken back, when, and by which process (its
machine and process ID). A record is stored together with its change, or neither is stored.`,
		Example: `  agent fleet log
  agent fleet log --json --limit 0`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().IntVar(&o.limit, "limit", 100, "show at most the last N; 0 shows all")
	return c
}

func runFleetLog(ctx context.Context, o *fleetOptions) error {
	from, err := o.open(false)
	if err != nil {
		return err
	}
	defer from.Close()
	list, err := from.Log(ctx)
	if err != nil {
		return err
	}
	if o.limit > 0 && len(list) > o.limit {
		list = list[len(list)-o.limit:]
	}
	if o.json {
		return o.s.Out.JSON(map[string]any{"records": list})
	}
	if len(list) == 0 {
		o.s.Out.Printf("Nothing was changed in the fleet of %s\n", o.s.Settings.Where())
		return nil
	}
	var rows [][]string
	for _, l := range list {
		rows = append(rows, []string{l.At.Local().Format("2006-01-02 15:04:05"), string(l.Event), l.Skill, output.Short(l.Digest), strings.Join(l.Grant, "; "), l.Writer})
	}
	return o.s.Out.Table([]string{"WHEN", "EVENT", "SKILL", "CONTENT", "GRANT", "BY"}, rows)
}
