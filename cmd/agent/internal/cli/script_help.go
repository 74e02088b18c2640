package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skilltool"
)

func scriptHelpCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "help SKILL SCRIPT",
		Short: "Show how a script is used: runs it with --help",
		Long: `Run a script with --help and print what it says. It is a run like any other: the skill must be trusted, and the
same limits hold.`,
		Example:           `  agent script help kalshi-markets markets`,
		Args:              arguments(2, 2, "the name of a skill and of a script"),
		ValidArgsFunction: a.completeScripts,
		RunE: func(c *cobra.Command, args []string) error {
			return a.helpScript(c.Context(), &runArgs{Skill: args[0], Script: args[1]}, json)
		},
	}
	c.Flags().DurationVar(&a.timeout, "timeout", 0, "end the script after this `TIME`")
	c.Flags().BoolVar(&json, "json", false, "print the whole result as JSON")
	return c
}

func (a *app) helpScript(ctx context.Context, args *runArgs, json bool) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	r, err := a.callScript(ctx, cat, "script_help", args)
	if err != nil {
		return err
	}
	return a.answer(r, json, func() string { return scriptHint(ctx, cat, args, r) }, func() error { return a.ui.Foreign(r.Result.(skilltool.Help).HelpText) })
}
