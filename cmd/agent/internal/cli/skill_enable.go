package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
)

type switchOptions struct {
	services *app.Services

	name     string
	on, json bool
}

func newEnableCommand(s *app.Services, run func(context.Context, *switchOptions) error) *cobra.Command {
	return switchCommand(&switchOptions{services: s, on: true}, run, &cobra.Command{
		Use:   "enable NAME",
		Short: "Enable a skill, in your config.yaml",
		Long: `Enable a skill in your own config.yaml: one that was disabled, or that is off by default. AGENT_SKILLS takes
precedence if it is set.`,
		Example: `  agent skill enable csv-report`,
	})
}

func newDisableCommand(s *app.Services, run func(context.Context, *switchOptions) error) *cobra.Command {
	return switchCommand(&switchOptions{services: s}, run, &cobra.Command{
		Use:     "disable NAME",
		Short:   "Disable a skill, in your config.yaml",
		Long:    `Disable a skill in your own config.yaml. Its files stay. AGENT_SKILLS takes precedence if it is set.`,
		Example: `  agent skill disable gh`,
	})
}

func switchCommand(o *switchOptions, run func(context.Context, *switchOptions) error, c *cobra.Command) *cobra.Command {
	c.Args = arguments(1, 1, "the name of a skill")
	c.ValidArgsFunction = completeSkills(o.services)
	c.RunE = func(c *cobra.Command, args []string) error {
		o.name = args[0]
		return run(c.Context(), o)
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// runSwitch writes the setting, and warns if it has no effect in this environment.
func runSwitch(ctx context.Context, o *switchOptions) error {
	s := o.services
	if err := s.Settings.NeedRoom(""); err != nil {
		return err
	}
	cat, err := s.Skills.Open(ctx)
	if err != nil {
		return err
	}
	e, err := library.Find(cat, o.name)
	if err != nil {
		return err
	}
	cfg := s.Settings.Config()
	edit, word := config.Disable, "disabled"
	if o.on {
		edit, word = config.Enable, "enabled"
	}
	changed, err := edit(ctx, cfg.Paths.UserConfig(), e.Canonical())
	if err != nil {
		return err
	}
	if err := noEffect(ctx, s.Again(), e.Canonical(), o.on); err != nil {
		return err
	}
	if o.json {
		return s.Out.JSON(map[string]any{"skill": map[string]any{
			"name": e.Name(), "name_canonical": e.Canonical(), "enabled": o.on, "changed": changed}})
	}
	if !changed {
		s.Out.Printf("%s was %s already\n", e.Name(), ui.Safe(word))
		return nil
	}
	s.Out.Printf("%s is %s in %s\n", e.Name(), ui.Safe(word), cfg.Paths.UserConfig())
	return nil
}

// noEffect opens the catalogue again and warns if the skill does not have the requested state.
func noEffect(ctx context.Context, s *app.Services, name string, on bool) error {
	cat, err := s.Skills.OpenQuietly(ctx)
	if err != nil {
		return err
	}
	e, err := cat.Lookup(name)
	if err != nil {
		return err
	}
	if on && e.State() == skill.StateUnavailable {
		s.Out.Warn(fmt.Sprintf("%s stays unavailable: %s", e.Name(), e.Reason()))
		s.Out.Hint("agent skill why " + e.Canonical() + " says what it needs")
	}
	if on && e.State() == skill.StateDisabled {
		s.Out.Warn(fmt.Sprintf("%s stays disabled: %s decides", e.Name(), s.Settings.DecidedBy(e)))
	}
	if !on && library.IsActive(e) {
		s.Out.Warn(fmt.Sprintf("%s stays active: %s decides", e.Name(), s.Settings.DecidedBy(e)))
	}
	return nil
}
