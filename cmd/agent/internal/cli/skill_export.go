package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/hosts"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/near"
)

type exportOptions struct {
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings
	packages *packages.Packages

	name                  string
	to                    []string
	project, copy, remove bool
	dryRun, json          bool
}

func newExportCommand(s *app.Services, run func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{sys: s.Sys, out: s.Out, settings: s.Settings, packages: s.Packages}
	c := &cobra.Command{
		Use:   "export NAME|FOLDER --to AGENT",
		Short: "Put a skill where another agent looks for skills",
		Long: `Put a skill where another agent looks for skills, as a link or, with --copy, as a copy, and say which of its fields that
agent ignores. AGENT is one of ` + strings.Join(hostNames(), ", ") + `.

A link leads to the present version, even after an update or a rollback, and is removed with the skill; for links in a project,
commands that run in that project do this. A copy never changes: export again after an update. Other agents enforce nothing that this
one enforces: no approval, no sandbox, no limits of tools.`,
		Example: `  agent skill export csv-report --to claude
  agent skill export csv-report --to codex --to cursor --here
  agent skill export csv-report --to claude --remove`,
		Args:              arguments(1, 1, "the name or the folder of a skill"),
		ValidArgsFunction: completeSkillsAndFolders(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			if len(o.to) == 0 {
				return failure.Usage(errors.New("it is not said for which agent"), "--to "+strings.Join(hostNames()[:5], "|"))
			}
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.to, "to", nil, "the other `AGENT` (repeatable)")
	f.BoolVar(&o.project, "here", false, "for the project, not for your home")
	f.BoolVar(&o.copy, "copy", false, "make a copy, not a link")
	f.BoolVar(&o.remove, "remove", false, "remove what an earlier export made")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be done")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(hostNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func hostNames() []string {
	var out []string
	for _, h := range hosts.All() {
		out = append(out, h.ID)
	}
	return out
}

func runExport(ctx context.Context, o *exportOptions) error {
	plans, err := o.plan(ctx)
	if err != nil {
		return err
	}
	records := []map[string]any{}
	for _, p := range plans {
		done, err := o.carryOut(ctx, p)
		if errors.Is(err, hosts.ErrExists) {
			return failure.Conflict(err, "move it away first: it was not made by an export")
		} else if err != nil {
			return err
		}
		records = append(records, map[string]any{"agent": p.Host.ID, "path": p.Location(), "method": p.Method.String(), "source": p.Source,
			"ignored": nonNil(p.Ignored), "warnings": nonNil(p.Warnings), "done": done})
		if !o.json {
			o.out.Printf("%s %s\n", done, p.Location())
			if !o.remove {
				o.explain(p)
			}
		}
	}
	if o.json {
		return o.out.JSON(map[string]any{"exports": records})
	}
	return nil
}

// explain says what the other agent makes of the skill.
func (o *exportOptions) explain(p *hosts.Export) {
	if len(p.Ignored) > 0 {
		o.out.Details([]string{"  " + p.Host.Title + " ignores: " + strings.Join(p.Ignored, ", ")})
	}
	for _, w := range p.Warnings {
		o.out.Details([]string{"  " + w})
	}
}

// plan says what is to be done for each agent.
func (o *exportOptions) plan(ctx context.Context) ([]*hosts.Export, error) {
	s, err := o.packages.Open(ctx, o.name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	dir, err := s.Dir(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return nil, err
	}
	cfg := o.settings.Config()
	scope, base := hosts.User, o.sys.Home
	if o.project {
		scope, base = hosts.Project, cfg.Paths.Project
		if base == "" {
			base = o.sys.Dir
		}
	}
	installed := o.packages.Installed(ctx)
	var out []*hosts.Export
	for _, name := range o.to {
		h, ok := hosts.Find(name)
		if !ok {
			hint := "one of " + strings.Join(hostNames(), ", ")
			if meant := near.Name(name, hostNames()); meant != "" {
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
			return nil, failure.Usage(fmt.Errorf("agent %q is not known", name), hint)
		}
		p, err := hosts.Plan(&hosts.Request{Host: h, Scope: scope, Base: base, Source: dir, Copy: o.copy, Manifest: s.Manifest(), Name: s.Name(),
			Own: []string{cfg.PluginsDir, filepath.Join(cfg.Paths.Cache, "bundled")}, Digests: append(installed.Digests(s.Canonical()), digest)})
		if errors.Is(err, hosts.ErrThere) && !o.remove {
			o.out.Details([]string{err.Error()})
			continue
		}
		if err != nil {
			return nil, failure.Usage(err, "")
		}
		out = append(out, p)
	}
	return out, nil
}

// sayLinks names links that were changed.
func sayLinks(out *output.Printer, what string, links []string) {
	for _, at := range links {
		out.Printf("  %s%s\n", what, at)
	}
}

// carryOut does what the options say and returns a word for it.
func (o *exportOptions) carryOut(ctx context.Context, p *hosts.Export) (string, error) {
	switch {
	case o.dryRun:
		return o.would(ctx, p)
	case o.remove:
		gone, err := p.Remove(ctx)
		if err == nil && !gone {
			return "nothing at", nil
		}
		return "removed", err
	}
	done, err := p.Do(ctx)
	switch {
	case errors.Is(err, syscall.EROFS): // of the other agent's folder, not of this program's home
		return "", &failure.Error{Exit: failure.ExitFailure, Code: "failed", Err: err}
	case err != nil:
		return "", err
	case done.Unchanged:
		return "unchanged", nil
	case done.Replaced:
		return "replaced", nil
	case p.Method == hosts.Copy:
		return "copied to", nil
	}
	return "linked", nil
}

// would returns the word for what would be done.
func (o *exportOptions) would(ctx context.Context, p *hosts.Export) (string, error) {
	there, err := p.Check(ctx)
	switch {
	case err != nil:
		return "", err
	case o.remove && !there:
		return "nothing at", nil
	case o.remove:
		return "would remove", nil
	}
	return "would " + p.Method.String(), nil
}
