package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trust"
)

type rollbackOptions struct {
	services *app.Services
	out      *output.Printer

	name      string
	yes, json bool
}

func newRollbackCommand(s *app.Services, run func(context.Context, *rollbackOptions) error) *cobra.Command {
	o := &rollbackOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the former version of an installed skill",
		Long: `Make the former version of an installed skill the active one. Nothing is fetched. What was approved of that version, and
granted to it, still holds. The version that was active is then the former one: a second rollback brings it back.`,
		Example:           "  agent skill rollback pdf",
		Args:              arguments(1, 1, "the name of an installed skill"),
		ValidArgsFunction: completeInstalled(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runRollback(ctx context.Context, o *rollbackOptions) error {
	in, list, err := installedSkills(ctx, o.services, true, o.name)
	if err != nil {
		return err
	}
	e := list[0]
	if len(e.Previous) == 0 {
		return failure.NotFound(fmt.Errorf("skill %q: %w", e.Name, install.ErrNoPrevious), otherVersion(&e, "installs any other"))
	}
	to := e
	to.Digest, to.CommitSHA = e.Previous[0].Digest, e.Previous[0].CommitSHA
	approval, err := o.approval(ctx, to)
	if err != nil {
		return err
	}
	if err := o.confirm(ctx, e, to, approval); err != nil {
		return err
	}
	if err := o.services.Packages.Record(ctx, trace.SkillRolledBack, to, nil); err != nil {
		return err
	}
	var permissions []string
	if approval != nil {
		permissions = consent.LinesOf(approval.Wants)
	}
	now, err := in.Rollback(ctx, o.name, approval != nil, permissions)
	if err != nil {
		_ = o.services.Packages.Record(ctx, trace.SkillRolledBack, to, err) // the first error is told
		return err
	}
	links := o.services.Packages.Repoint(e, now)
	if o.json {
		return o.out.JSON(map[string]any{"skill": map[string]any{"name": now.Name, "name_canonical": now.NameCanonical, "from_commit": orNull(e.CommitSHA),
			"to_commit": orNull(now.CommitSHA), "from_digest": e.Digest, "to_digest": now.Digest, "trusted": approval != nil, "links": links}})
	}
	o.out.Printf("Rolled %s back from %s to %s\n", now.Name, shaText(e), shaText(now))
	o.out.Printf("  %s\n", trustOf(approval, now.NameCanonical))
	sayLinks(o.out, "leads to it now: ", links)
	if !now.Pinned {
		if err := o.out.Flush(); err != nil { // the hints stand below
			return err
		}
		o.out.Remark("agent skill update " + now.NameCanonical + " brings the newest one again")
		if hint := otherVersion(&now, "stays at one"); hint != "" {
			o.out.Remark(hint)
		}
	}
	return nil
}

// otherVersion says how to change to another version of a skill, and what that does. It is "" for a place that has one only.
func otherVersion(e *registry.Entry, does string) string {
	switch source.KindNamed(e.Kind) {
	case source.Git:
		return "agent skill update " + e.NameCanonical + " --ref COMMIT " + does
	case source.OCI:
		return "agent skill update " + e.NameCanonical + " --ref TAG|DIGEST " + does
	}
	return ""
}

// approval returns the approval of a content, nil if there is none.
func (o *rollbackOptions) approval(ctx context.Context, e registry.Entry) (*trust.Approval, error) {
	set, err := o.services.Trust.Load(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range set.Approvals() {
		if a.Name == e.NameCanonical && a.Is(e.Digest) {
			return &a, nil
		}
	}
	return nil, nil
}

func trustOf(a *trust.Approval, name string) string {
	if a == nil {
		return fmt.Sprintf("it was never approved: its scripts do not run before %q", cure.Trust(name))
	}
	return "it was approved on " + a.ApprovedAt.Format("2006-01-02 15:04") + ": its scripts run"
}

func (o *rollbackOptions) confirm(ctx context.Context, e, to registry.Entry, a *trust.Approval) error {
	if o.yes {
		return nil
	}
	yes, err := o.services.Approver.Ask(ctx, &consent.Question{Text: fmt.Sprintf("Roll %s back from %s to %s?", e.Name, shaText(e), shaText(to)),
		Details: []string{"  replaced on " + e.Previous[0].ReplacedAt.Format("2006-01-02 15:04"), "  " + trustOf(a, e.NameCanonical)},
		Nobody:  "no terminal to ask on, so nothing was changed", Instead: "--yes goes back without asking"})
	if err == nil && !yes {
		err = failure.Denied(errors.New("nothing was changed"), "")
	}
	return err
}
