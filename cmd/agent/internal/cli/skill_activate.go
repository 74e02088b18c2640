package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

type activateOptions struct {
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library
	tools    *toolkit.Toolkit

	name, args  string
	shell, json bool
}

func newActivateCommand(s *app.Services, run func(context.Context, *activateOptions) error) *cobra.Command {
	o := &activateOptions{out: s.Out, settings: s.Settings, skills: s.Skills, tools: s.Tools}
	c := &cobra.Command{
		Use:   "activate NAME [ARGUMENTS]",
		Short: "Print what a model gets when it activates a skill",
		Long: `Print the instructions that a model gets when it activates a skill, with the arguments filled in.
With --json, print the whole result of the tool "skill". Nothing of the skill is executed. If the skill restricts which tools
a model may use while it is active, stderr says so.

With --shell, the text is for the model of another program: it says how scripts are run with this command in a shell.`,
		Example: `  agent skill activate kalshi-markets
  agent skill activate hello-world "Ada Lovelace"
  agent skill activate kalshi-markets --shell`,
		Args:              arguments(1, -1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name, o.args = args[0], strings.Join(args[1:], " ")
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.shell, "shell", false, "say how scripts are run in a shell, for a model without the tool script_run")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runActivate(ctx context.Context, o *activateOptions) error {
	cat, err := o.skills.OpenFor(ctx, o.name)
	if err != nil {
		return err
	}
	if !o.json {
		if err := library.MustBeVisible(cat, o.name); err != nil {
			return err
		}
	}
	how, err := o.tools.Options(cat)
	if err != nil {
		return err
	}
	if o.shell {
		how.Show.Instructions.Command = func(skillName, scriptName string, args []string) string {
			return o.out.Typed(cure.Run(skillName, scriptName, args))
		}
	}
	begun := time.Now()
	r := skilltool.New(how).Activate(ctx, o.name, o.args)
	if err := ctx.Err(); err != nil {
		return err
	}
	r.Duration = time.Since(begun)
	return (&answer{o.out, o.settings, o.json}).print(r, func() string { return o.hint(cat, r) }, func() error {
		got := r.Result.(skilltool.Activation)
		for _, w := range got.Warnings {
			o.out.Warn(w)
		}
		o.restricts(ctx, cat)
		return o.out.Foreign(got.Content + "\n")
	})
}

// hint returns what a person can do about a failed activation.
func (o *activateOptions) hint(cat *skill.Catalog, r tool.Result) string {
	var leftOut *failure.Error
	switch e, err := library.Find(cat, o.name); {
	case errors.As(err, &leftOut):
		return leftOut.Hint
	case err == nil && r.Error == tool.PermissionDenied && e.Installed() != "":
		return replacedHint(e.Canonical())
	}
	return "agent skill list shows the skills"
}

// restricts says which tools a model may use while the skill is active.
func (o *activateOptions) restricts(ctx context.Context, cat *skill.Catalog) {
	e, err := cat.Lookup(o.name)
	if err != nil {
		return
	}
	s, err := e.Load(ctx)
	if err != nil {
		return // it was readable a moment ago, and its text is what was asked for
	}
	defer s.Close()
	scripts, _ := scriptNames(s, o.settings.Survey())
	if text := restricts(s.Manifest(), len(scripts), o.settings.Config()); text != "" {
		o.out.Remark("tools that a model may use: " + text)
	}
}
