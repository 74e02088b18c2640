package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/skilltool"
)

type activateOptions struct {
	out      *app.Printer
	settings *app.Settings
	skills   *app.Library
	tools    *app.Toolkit

	name, args string
	json       bool
}

func newActivateCommand(s *app.Services, run func(context.Context, *activateOptions) error) *cobra.Command {
	o := &activateOptions{out: s.Out, settings: s.Settings, skills: s.Skills, tools: s.Tools}
	c := &cobra.Command{
		Use:   "activate NAME [ARGUMENTS]",
		Short: "Print what a model gets when it activates a skill",
		Long: `Print the instructions that a model gets when it activates a skill, with the arguments filled in.
With --json, print the whole result of the tool "skill". Nothing of the skill is executed.`,
		Example: `  agent skill activate kalshi-markets
  agent skill activate hello-world "Ada Lovelace"`,
		Args:              arguments(1, -1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name, o.args = args[0], strings.Join(args[1:], " ")
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runActivate(ctx context.Context, o *activateOptions) error {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	if !o.json {
		if err := app.MustBeVisible(cat, o.name); err != nil {
			return err
		}
	}
	kit, err := o.tools.Kit(cat, nil)
	if err != nil {
		return err
	}
	begun := time.Now()
	r := kit.Activate(ctx, o.name, o.args)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Duration = time.Since(begun)
	return (&answer{o.out, o.settings, o.json}).print(r, func() string { return "agent skill list shows the skills" }, func() error {
		got := r.Result.(skilltool.Activation)
		for _, w := range got.Warnings {
			o.out.Warn(w)
		}
		return o.out.Foreign(got.Content + "\n")
	})
}
