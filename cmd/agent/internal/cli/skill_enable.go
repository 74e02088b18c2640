package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
)

func enableCommand(a *app) *cobra.Command {
	return switchCommand(a, &cobra.Command{
		Use:   "enable NAME",
		Short: "Enable a skill, in your config.yaml",
		Long: `Write into your own config.yaml that a skill is enabled: one that was disabled, or that its author leaves off until
somebody wants it. AGENT_SKILLS decides instead where it is set.`,
		Example: `  agent skill enable csv-report`,
	}, true)
}

func disableCommand(a *app) *cobra.Command {
	return switchCommand(a, &cobra.Command{
		Use:   "disable NAME",
		Short: "Disable a skill, in your config.yaml",
		Long: `Write into your own config.yaml that a skill is disabled. Its files stay. AGENT_SKILLS decides instead where it is
set.`,
		Example: `  agent skill disable gh`,
	}, false)
}

func switchCommand(a *app, c *cobra.Command, on bool) *cobra.Command {
	var json bool
	c.Args = arguments(1, 1, "the name of a skill")
	c.ValidArgsFunction = a.completeSkills
	c.RunE = func(c *cobra.Command, args []string) error { return a.switchSkill(c.Context(), args[0], on, json) }
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

// switchSkill persists a wish (R75) and says when it has no effect in this environment.
func (a *app) switchSkill(ctx context.Context, name string, on, json bool) error {
	if err := a.needRoom(""); err != nil {
		return err
	}
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	e, err := find(cat, name)
	if err != nil {
		return err
	}
	cfg, _ := a.settings()
	edit, word := config.Disable, "disabled"
	if on {
		edit, word = config.Enable, "enabled"
	}
	changed, err := edit(ctx, cfg.Paths.UserConfig(), e.Canonical())
	if err != nil {
		return err
	}
	a.cfg = nil
	if err := a.noEffect(ctx, e.Canonical(), on); err != nil {
		return err
	}
	if json {
		return a.printJSON(map[string]any{"skill": map[string]any{
			"name": e.Name(), "name_canonical": e.Canonical(), "enabled": on, "changed": changed}})
	}
	if !changed {
		a.ui.Printf("%s was %s already\n", e.Name(), ui.Safe(word))
		return nil
	}
	a.ui.Printf("%s is %s in %s\n", e.Name(), ui.Safe(word), cfg.Paths.UserConfig())
	return nil
}

// noEffect opens the catalogue anew and warns when the skill's state is not what was asked for.
func (a *app) noEffect(ctx context.Context, name string, on bool) error {
	quiet := a.flags.quiet
	a.flags.quiet = true
	cat, err := a.catalog(ctx)
	a.flags.quiet = quiet
	if err != nil {
		return err
	}
	e, err := cat.Lookup(name)
	if err != nil {
		return err
	}
	if on && e.State() == skill.StateDisabled {
		a.warn(fmt.Sprintf("%s stays disabled: %s decides", e.Name(), a.decidedBy(e)))
	}
	if !on && isActive(e) {
		a.warn(fmt.Sprintf("%s stays active: %s decides", e.Name(), a.decidedBy(e)))
	}
	return nil
}
