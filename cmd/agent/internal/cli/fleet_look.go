package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

// operatorOptions are those of the commands that look at the queue of agent serve.
type operatorOptions struct {
	s          *app.Services
	remote     remoteOptions
	json       bool
	limit      int
	undo, wait bool
}

const lookAt = "look at the queue of the NATS server at `URL`"

// open connects to the queue: that of the settings, or of the server that the flags name.
func (o *operatorOptions) open(ctx context.Context) (*node.Node, error) {
	if err := o.s.Settings.NeedHome(); err != nil {
		return nil, err
	}
	at, err := &node.Options{Dir: o.s.Settings.Config().Paths.Node()}, error(nil)
	if o.remote.url+o.remote.creds != "" {
		at.Remote, err = o.remote.open(o.s)
	} else if o.s.Settings.Config().Serve.Server != "" {
		at, err = o.s.Settings.Node(ctx)
	}
	if err != nil {
		return nil, err
	}
	if at.Remote != nil {
		return node.Open(ctx, at)
	}
	n, err := node.Join(at.Dir)
	if err != nil {
		return nil, failure.NotFound(fmt.Errorf("no server with workers runs here: %w", err), "agent serve --http 127.0.0.1:8080 --workers 2 starts one; --server URL --creds FILE looks elsewhere")
	}
	return n, nil
}

// look returns the fleet.
func (o *operatorOptions) look(ctx context.Context) (*dispatch.View, error) {
	n, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	v, err := dispatch.Look(ctx, n.Conn(), o.limit)
	return v, rights(err)
}

// rights returns an error with its cure if it is about credentials.
func rights(err error) error {
	if errors.Is(err, dispatch.ErrRights) {
		return failure.Denied(err, "use those of agent serve: a worker's reach its own runs only")
	}
	return err
}

// shows completes a command that shows something of the fleet.
func (o *operatorOptions) shows(c *cobra.Command, show func(*dispatch.View) error) *cobra.Command {
	c.Args = arguments(0, 0, "no arguments")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("limit") && o.limit < 1 {
			return failure.Usage(fmt.Errorf("invalid --limit %d", o.limit), "use 1 or more")
		}
		v, err := o.look(c.Context())
		if err != nil {
			return err
		}
		return show(v)
	}
	o.remote.flags(c.Flags(), lookAt)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func newFleetStatusCommand(s *app.Services) *cobra.Command {
	o := &operatorOptions{s: s}
	return o.shows(&cobra.Command{
		Use:   "status",
		Short: "Show whether the servers and workers of a fleet are healthy",
		Long: `Show the nodes that keep the queue of agent serve, the workers with their places, the runs that wait and those that workers have, and
what is wrong, with what to do. It ends with 1 if something is wrong.`,
		Example: `  agent fleet status
  agent fleet status --json`,
	}, o.status)
}

func (o *operatorOptions) status(v *dispatch.View) error {
	h := fleet.Judge(v)
	if !o.json {
		o.facts(h)
	} else if err := o.s.Out.JSON(h); err != nil {
		return err
	}
	if !h.Healthy {
		return failure.Silent(failure.ExitFailure)
	}
	return nil
}

func (o *operatorOptions) facts(h *fleet.Health) {
	var nodes, waits []string
	for _, n := range h.Nodes {
		switch {
		case n.Gone:
			n.Name += " (gone)"
		case n.Leads && len(h.Nodes) > 1:
			n.Name += " (leads)"
		}
		nodes = append(nodes, n.Name)
	}
	all := 0
	for _, tenant := range h.Tenants() {
		all += h.Waiting[tenant]
		waits = append(waits, fmt.Sprintf("%s: %d", output.OrDash(tenant), h.Waiting[tenant]))
	}
	queue := output.Count(all, "run") + " waiting"
	if all > h.Waiting[""] {
		queue += " (" + strings.Join(waits, ", ") + ")"
	}
	if !h.Oldest.IsZero() {
		queue += ", for up to " + fleet.Age(h.Oldest)
	}
	free, places := h.Places()
	used, of := (h.Disk["queue"].Used+h.Disk["claims"].Used)>>20, (h.Disk["queue"].Of+h.Disk["claims"].Of)>>20
	o.s.Out.Facts([][2]string{
		{"nodes", strings.Join(nodes, ", ")}, {"servers", strconv.Itoa(len(h.Servers))},
		{"workers", fmt.Sprintf("%d, with %d of %d places free", len(h.Workers), free, places)},
		{"queue", queue}, {"under way", output.Count(h.Running, "run")}, {"disk", fmt.Sprintf("%d of %d MiB used", used, of)},
	})
	var problems []manifest.Problem
	for _, p := range h.Problems {
		problems = append(problems, manifest.Problem{Message: p.What, Cure: p.Cure})
	}
	o.s.Out.UnderTitle("Problems", problems, func(p *manifest.Problem) string { return p.Message })
}

func newFleetWorkersCommand(s *app.Services) *cobra.Command {
	o := &operatorOptions{s: s, limit: 1}
	return o.shows(&cobra.Command{
		Use:   "workers",
		Short: "List the workers of a fleet",
		Long: `List the workers that were heard in the last seconds, also those on other machines, with their free places and the runs that they have.
A worker that is "silent" gets no run before it is heard again; one that is "draining" gets none, and ends when it has none. The state
"clock" says that its clock and that of a server differ by more than 10 seconds.`,
		Example: `  agent fleet workers
  agent fleet workers --json`,
	}, o.workers)
}

func (o *operatorOptions) workers(v *dispatch.View) error {
	switch {
	case o.json:
		return o.s.Out.JSON(map[string]any{"workers": v.Workers})
	case len(v.Workers) == 0:
		o.s.Out.Printf("No workers. agent worker starts one.\n")
		return nil
	}
	var rows [][]string
	for _, w := range v.Workers {
		state, runs := "ready", w.Runs
		switch {
		case w.Silent:
			state = "silent"
		case w.Clock != 0:
			state = "clock"
		case w.Draining:
			state = "draining"
		}
		if len(runs) > 2 {
			runs = []string{runs[0], runs[1], fmt.Sprintf("and %d more", len(runs)-2)}
		}
		rows = append(rows, []string{w.Name, state, fmt.Sprintf("%d of %d", w.Free, w.Places), fleet.Age(w.Heard), output.OrDash(w.Version), output.OrDash(strings.Join(runs, ", "))})
	}
	return o.s.Out.Table([]string{"NAME", "STATE", "FREE", "HEARD", "VERSION", "RUNS"}, rows)
}

func newFleetJobsCommand(s *app.Services) *cobra.Command {
	o := &operatorOptions{s: s}
	c := o.shows(&cobra.Command{
		Use:   "jobs",
		Short: "List the runs of a fleet",
		Long: `List the runs that wait, those that workers have, and the last 100 that have ended since each server began, the oldest first. A run
that is done has a result, which may be a failure. One that is lost may have run: its worker is gone. Arguments are not shown.`,
		Example: `  agent fleet jobs
  agent fleet jobs --json --limit 1000`,
	}, o.jobs)
	c.Flags().IntVar(&o.limit, "limit", 100, "list at most `N` of the runs that wait")
	return c
}

func (o *operatorOptions) jobs(v *dispatch.View) error {
	switch {
	case o.json:
		return o.s.Out.JSON(map[string]any{"runs": append([]dispatch.RunView{}, v.Runs...), "waiting": v.Waiting})
	case len(v.Runs) == 0:
		o.s.Out.Printf("No run waits, is under way or has ended lately.\n")
		return nil
	}
	var rows [][]string
	for _, r := range v.Runs {
		took := "-"
		if r.Ended.IsZero() {
			r.Ended = time.Now()
		}
		if !r.Began.IsZero() {
			took = r.Ended.Sub(r.Began).Round(10 * time.Millisecond).String()
		}
		rows = append(rows, []string{r.ID, output.OrDash(r.Tenant), output.OrDash(r.Skill), string(r.State), output.OrDash(r.Worker), fleet.Age(r.Queued), took})
	}
	return o.s.Out.Table([]string{"ID", "TENANT", "SKILL", "STATE", "WORKER", "AGE", "TOOK"}, rows)
}

func newFleetDrainCommand(s *app.Services) *cobra.Command {
	o := &operatorOptions{s: s}
	c := &cobra.Command{
		Use:   "drain WORKER...",
		Short: "Let workers end after the runs that they have",
		Long: `Let workers take no run any more, and end when they have none: nothing is lost. To update a machine, drain its workers, and start them
again afterwards. agent serve starts no other worker in the place of one that was drained: it does when it starts again.`,
		Example: `  agent fleet drain w1
  agent fleet drain w1 w2 --wait
  agent fleet drain w1 --undo`,
		Args: arguments(1, -1, "the name of a worker"),
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			names := o.names(c.Context())
			return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args, name) }), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error { return runFleetDrain(c.Context(), o, args) },
	}
	o.remote.flags(c.Flags(), lookAt)
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until they have ended")
	c.Flags().BoolVar(&o.undo, "undo", false, "let workers that have not ended yet take runs again")
	c.MarkFlagsMutuallyExclusive("wait", "undo")
	return c
}

// names returns those of the workers, none if they are not known.
func (o *operatorOptions) names(ctx context.Context) (out []string) {
	if v, err := o.look(ctx); err == nil {
		for _, w := range v.Workers {
			out = append(out, w.Name)
		}
	}
	return out
}

func runFleetDrain(ctx context.Context, o *operatorOptions, names []string) error {
	n, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	for _, name := range names {
		runs, err := dispatch.Drain(ctx, n.Conn(), name, o.undo)
		switch {
		case errors.Is(err, dispatch.ErrNoWorker):
			cure := "agent fleet workers lists them"
			if meant := near.Name(name, o.names(ctx)); meant != "" {
				cure = fmt.Sprintf("did you mean %q? %s", meant, cure)
			}
			return failure.NotFound(fmt.Errorf("no worker %q is there", name), cure)
		case err != nil:
			return rights(err)
		case o.undo:
			o.s.Out.Printf("worker %s takes runs again\n", name)
		case runs == 0:
			o.s.Out.Printf("worker %s takes no run any more, and ends\n", name)
		default:
			o.s.Out.Printf("worker %s takes no run any more, and ends after the %s that it has\n", name, output.Count(runs, "run"))
		}
	}
	if !o.wait {
		return nil
	}
	return o.s.Out.Busy("Waiting for "+strings.Join(names, ", "), func() error {
		for len(names) > 0 {
			_, err := dispatch.Drain(ctx, n.Conn(), names[0], false)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, dispatch.ErrNoWorker):
				names = names[1:]
			case err != nil && !errors.Is(err, context.DeadlineExceeded): // such as that the server has ended
				err = fmt.Errorf("whether worker %s has ended is not known: %w", names[0], err)
				return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Err: err, Hint: "agent fleet workers lists those that are there"}
			default: // it has runs, or is just ending
				time.Sleep(200 * time.Millisecond)
			}
		}
		return nil
	})
}
