package cli

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/script"
)

type scriptListOptions struct {
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library
	tools    *toolkit.Toolkit

	skill string // "" for all
	json  bool
}

func newScriptListCommand(s *app.Services, run func(context.Context, *scriptListOptions) error) *cobra.Command {
	o := &scriptListOptions{out: s.Out, settings: s.Settings, skills: s.Skills, tools: s.Tools}
	c := &cobra.Command{
		Use:   "list [SKILL]",
		Short: "List the scripts of one skill, or of all",
		Example: `  agent script list
  agent script list kalshi-markets --json`,
		Args:              arguments(0, 1, "at most the name of one skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.skill = args[0]
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print the whole result as JSON")
	return c
}

func runScriptList(ctx context.Context, o *scriptListOptions) error {
	cat, err := o.skills.OpenFor(ctx, o.skill)
	if err != nil {
		return err
	}
	kit, err := o.tools.Kit(cat, nil)
	if err != nil {
		return err
	}
	bySkill, err := kit.ListScripts(ctx, o.skill)
	r := bySkill.Envelope()
	if err != nil {
		r = kit.Failure(ctx, err, o.skill)
	}
	return (&answer{o.out, o.settings, o.json}).scripted(r, err, func() string { return scriptHint(ctx, o.settings, cat, o.skill, err) }, func() error {
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(bySkill)) {
			for _, s := range bySkill[name] {
				if filepath.IsAbs(s.Path) { // it lies directly in scripts/
					s.Path = script.Dir + "/" + filepath.Base(s.Path)
				}
				rows = append(rows, []string{name, s.Name, s.Path})
			}
		}
		if len(rows) == 0 {
			o.out.Remark("no scripts")
			return nil
		}
		return o.out.Table([]string{"SKILL", "SCRIPT", "FILE"}, rows)
	})
}
