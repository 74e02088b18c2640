package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

func activateCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "activate NAME [ARGUMENTS]",
		Short: "Print what a model gets when it activates a skill",
		Long: `Print the instructions that a model gets when it activates a skill, with the arguments put in.
With --json it is the whole result of the tool "skill". Nothing of the skill is executed.`,
		Example: `  agent skill activate kalshi-markets
  agent skill activate hello-world "Ada Lovelace"`,
		Args:              arguments(1, -1, "the name of a skill"),
		ValidArgsFunction: a.completeSkills,
		RunE: func(c *cobra.Command, args []string) error {
			return a.activate(c.Context(), args[0], strings.Join(args[1:], " "), json)
		},
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func (a *app) activate(ctx context.Context, name, args string, json bool) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	if !json {
		if err := mustBeVisible(cat, name); err != nil {
			return err
		}
	}
	r, err := a.call(ctx, cat, "skill", map[string]string{"skill_name": name, "args": args})
	if err != nil {
		return err
	}
	return a.answer(r, json, func() string { return "agent skill list shows the skills" }, func() error {
		got := r.Result.(skilltool.Activation)
		for _, w := range got.Warnings {
			a.warn(w)
		}
		return a.ui.Foreign(got.Content + "\n")
	})
}

// mustBeVisible tells a person more than a model is told: that a skill is there, but not for a model.
func mustBeVisible(cat *skill.Catalog, name string) error {
	e, err := cat.Lookup(name)
	if err != nil || e.State() == skill.StateEnabled {
		return err
	}
	exit, code := ExitNotFound, "not_found"
	if e.State() == skill.StateBroken {
		exit, code = ExitInvalid, "invalid_skill"
	}
	err = fmt.Errorf("skill %q is %s: %s", e.Name(), e.State(), e.Reason())
	return &failure{exit: exit, code: code, hint: cure(e), err: err}
}
