package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
)

type lockOptions struct {
	services *app.Services
	out      *output.Printer

	fix, theirs, json bool
}

func newLockCommand(s *app.Services, run func(context.Context, *lockOptions) error) *cobra.Command {
	o := &lockOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:   "lock",
		Short: "Check the project's skills-lock.json, and mend it after a merge",
		Long: `Check that skills-lock.json of the project can be read. If git could not merge it, --fix puts both sides together: the file
then names the skills of both. Where they say different things of one skill, it takes what the current branch says, or with
--theirs what the other one says, and names the skill. Nothing is installed: "agent skill ci" does that.`,
		Example: `  agent skill lock
  agent skill lock --fix`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	f := c.Flags()
	f.BoolVar(&o.fix, "fix", false, "put the sides of a merge together")
	f.BoolVar(&o.theirs, "theirs", false, "with --fix: where the sides differ, take that of the branch that was merged")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runLock(ctx context.Context, o *lockOptions) error {
	file, err := o.services.Packages.LockFile()
	if err != nil {
		return err
	}
	if !o.fix {
		if _, err := file.Load(ctx); err != nil {
			return err
		}
	}
	m, err := file.Merge(ctx, o.theirs, !o.fix)
	if err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(map[string]any{"skills": m.Skills, "merged": m.Written, "differ": append([]string{}, m.Differ...)})
	}
	switch names := output.Count(m.Skills, "skill"); {
	case m.Written:
		o.out.Printf("Put both sides together: %s names %s\n", lock.FileName, names)
	default:
		o.out.Printf("%s names %s\n", lock.FileName, names)
	}
	if len(m.Differ) > 0 {
		which, other := "the current branch", "; --theirs would have taken the other"
		if o.theirs {
			which, other = "the branch that was merged", ""
		}
		o.out.Warn("the sides differ, and what " + which + " says was taken, for " + strings.Join(m.Differ, ", ") + other)
	}
	return nil
}
