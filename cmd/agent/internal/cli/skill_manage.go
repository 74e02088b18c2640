package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// manageCommand holds the verbs of the second source document: the same commands under another name (C23, R158). Alone
// it shows them.
func manageCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "manage",
		Short: "The same verbs under another name: enable, disable; list shows installed plugins",
		Example: `  agent skill manage disable gh
  agent skill manage list`,
	})
	c.AddCommand(enableCommand(a), disableCommand(a), pluginsCommand(a))
	return c
}

func pluginsCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the installed plugins",
		Example: "  agent skill manage list",
		Args:    arguments(0, 0, "no argument"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.plugins(c.Context(), json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

// plugins lists the skills of the plugin layer, in any state.
func (a *app) plugins(ctx context.Context, json bool) error {
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	records, rows := []record{}, [][]string{}
	for e := range cat.All() {
		if e.Layer() == config.PluginDir {
			records = append(records, a.record(e))
			rows = append(rows, []string{e.Name(), orDash(e.Version()), activeCell(e), e.Path()})
		}
	}
	if json {
		return a.printJSON(map[string][]record{"skills": records})
	}
	if len(records) == 0 {
		if !a.flags.quiet {
			a.ui.Hint("no plugins are installed")
		}
		return nil
	}
	return a.ui.Table([]string{"NAME", "VERSION", "ACTIVE", "FOLDER"}, rows)
}
