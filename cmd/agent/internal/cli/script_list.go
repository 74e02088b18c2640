package cli

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

func scriptListCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "list [SKILL]",
		Short: "List the scripts of one skill, or of all",
		Example: `  agent script list
  agent script list kalshi-markets --json`,
		Args:              arguments(0, 1, "at most the name of one skill"),
		ValidArgsFunction: a.completeSkills,
		RunE:              func(c *cobra.Command, args []string) error { return a.listScripts(c.Context(), args, json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print the whole result as JSON")
	return c
}

func (a *app) listScripts(ctx context.Context, args []string, json bool) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	var params runArgs
	if len(args) == 1 {
		params.Skill = args[0]
	}
	r, err := a.call(ctx, cat, "script_list", &params)
	if err != nil {
		return err
	}
	return a.answer(r, json, func() string { return scriptHint(ctx, cat, &params, r) }, func() error {
		bySkill := r.Result.(map[string][]skilltool.ScriptItem)
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(bySkill)) {
			for _, s := range bySkill[name] {
				rows = append(rows, []string{name, s.Name, script.Dir + "/" + path.Base(s.Path)})
			}
		}
		if len(rows) == 0 {
			if !a.flags.quiet {
				a.ui.Hint("there are no scripts")
			}
			return nil
		}
		return a.ui.Table([]string{"SKILL", "SCRIPT", "FILE"}, rows)
	})
}

// completeScripts offers skills for the first argument and that skill's scripts for the second.
func (a *app) completeScripts(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeSkills(c, args, word)
	}
	a.flags.quiet = true
	s, err := a.load(c.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	var out []cobra.Completion
	for _, n := range scriptNames(s) {
		out = append(out, n.Name)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// scriptName is a script of a skill.
type scriptName struct {
	Name string `json:"name"`
	Path string `json:"path"` // below the skill
}

func scriptNames(s *skill.Skill) []scriptName {
	scripts, _ := script.List(s)
	out := make([]scriptName, len(scripts))
	for i, sc := range scripts {
		out[i] = scriptName{sc.Name, sc.File}
	}
	return out
}

// load opens a skill by name, whatever its state but broken: a person may look at all of them.
func (a *app) load(ctx context.Context, name string) (*skill.Skill, error) {
	cat, err := a.catalog(ctx)
	if err != nil {
		return nil, err
	}
	e, err := find(cat, name)
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}
