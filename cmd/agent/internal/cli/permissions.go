package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
)

// permissionsOptions are those of the commands of agent permissions.
type permissionsOptions struct {
	settings *setup.Settings
	out      *output.Printer

	rules []string
	json  bool
}

func newPermissionsCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:        "permissions",
		Short:      "List and remove the rules that need no question",
		SuggestFor: []string{"permission", "allow", "rules"},
		Long: `List and remove the rules about the agent's own tools and about the hosts that commands reach.

The answer "always" to a question keeps a rule: for this project, in the folder projects of $AGENT_HOME, or for every
project, in your settings. Nothing is written into the project. The work trees of one git repository share the rules of a
project; a project that was moved has none. WebFetch(domain:HOST) allows commands to reach HOST over HTTP and HTTPS, and
the model to read its pages.`,
		Example: `  agent permissions list
  agent permissions remove 'Bash(go test:*)'`,
	})
	c.AddCommand(newPermissionsListCommand(s, runPermissionsList), newPermissionsRemoveCommand(s, runPermissionsRemove))
	return c
}

func newPermissionsListCommand(s *app.Services, run func(context.Context, *permissionsOptions) error) *cobra.Command {
	o := &permissionsOptions{settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the rules, with where each comes from",
		Long: `List the rules about the agent's own tools in the order in which they decide: deny, ask, allow. A place is a file with the
line, a variable or a flag; "this project" is where the answer "always, in this project" keeps them. Rules that allow in
settings of Claude Code are ignored, and come last.`,
		Example: `  agent permissions list --json`,
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func newPermissionsRemoveCommand(s *app.Services, run func(context.Context, *permissionsOptions) error) *cobra.Command {
	o := &permissionsOptions{settings: s.Settings, out: s.Out}
	c := &cobra.Command{
		Use:   "remove RULE...",
		Short: "Remove rules that the answer \"always\" kept",
		Long: `Remove rules that allow something, as "agent permissions list" shows them: from this project's, or else from those in your
settings, where they hold in every project.`,
		Example: `  agent permissions remove 'WebFetch(domain:example.com)'`,
		Args:    arguments(1, -1, "a rule"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return o.removable(args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.rules = args
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// ofUser names the place of the rules that hold in every project.
const ofUser = "every project"

// permissionJSON is a rule in the output of agent permissions --json.
type permissionJSON struct {
	setup.RuleRow
	Holds string `json:"holds,omitempty"` // "this project" or "every project", of a rule that agent permissions remove removes
}

// list returns the rules in the order in which they decide.
func (o *permissionsOptions) list() []permissionJSON {
	state, problems := permissionsOf(o.settings)
	for _, p := range problems {
		o.out.WarnProblem(p)
	}
	file := o.settings.ProjectRules().File()
	out := []permissionJSON{}
	for _, r := range state.Rules {
		one := permissionJSON{RuleRow: r}
		switch {
		case r.List != permit.Allowed:
		case r.Origin == file:
			one.Holds = setup.OfProject
		case slices.ContainsFunc(o.settings.Config().Permissions.Allow, func(c config.Rule) bool { return c.Text == r.Rule && c.Origin.Rank == config.User }):
			one.Holds = ofUser
		}
		out = append(out, one)
	}
	return out
}

// removable offers the rules that can be removed.
func (o *permissionsOptions) removable(given []string) []cobra.Completion {
	var out []cobra.Completion
	for _, r := range o.list() {
		if r.Holds != "" && !slices.Contains(given, r.Rule) {
			out = append(out, cobra.CompletionWithDesc(r.Rule, "in "+r.Holds))
		}
	}
	return out
}

func runPermissionsList(_ context.Context, o *permissionsOptions) error {
	list := o.list()
	if o.json {
		return o.out.JSON(map[string]any{"rules": list})
	}
	if len(list) == 0 {
		o.out.Printf("No rules: the mode alone decides. The answer \"always\" to a question adds one.\n")
		return nil
	}
	var rows [][]string
	ignored := list[len(list)-1].List == setup.Ignored
	for _, r := range list {
		rows = append(rows, []string{string(r.List), r.Rule, o.settings.From(r.RuleRow)})
	}
	if err := o.out.Table([]string{"LIST", "RULE", "FROM"}, rows); err != nil || !ignored {
		return err
	}
	o.out.Printf("%s\n", setup.IgnoredHelp)
	return nil
}

func runPermissionsRemove(ctx context.Context, o *permissionsOptions) error {
	removed := []permissionJSON{}
	for _, rule := range o.rules {
		one := permissionJSON{setup.RuleRow{List: permit.Allowed, Rule: rule, Origin: o.settings.ProjectRules().File()}, setup.OfProject}
		ok, err := o.settings.ProjectRules().Remove(ctx, rule)
		if err == nil && !ok {
			one.Origin, one.Holds = o.settings.Config().Paths.UserConfig(), ofUser
			ok, err = config.Unpermit(ctx, one.Origin, rule)
		}
		switch {
		case err != nil:
			return err
		case !ok:
			return failure.NotFound(fmt.Errorf("no rule %q that allows something is kept for this project or in your settings", rule), "agent permissions list")
		}
		removed = append(removed, one)
	}
	if o.json {
		return o.out.JSON(map[string]any{"removed": removed})
	}
	for _, r := range removed {
		o.out.Printf("removed %s, which held in %s\n", r.Rule, r.Holds)
	}
	return nil
}
