package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
)

// newManageCommand returns the command that holds the same verbs under another name. Alone it shows them.
func newManageCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "manage",
		Short: "Other names for enable, disable, update and remove; list shows installed plugins",
		Example: `  agent skill manage disable gh
  agent skill manage update
  agent skill manage list`,
	})
	c.AddCommand(newEnableCommand(s, runSwitch), newDisableCommand(s, runSwitch), newUpdateCommand(s, runUpdate), newRemoveCommand(s, runRemove), newPluginsCommand(s, runPlugins))
	return c
}

type pluginsOptions struct {
	out      *app.Printer
	settings *app.Settings
	skills   *app.Library
	packages *app.Packages

	json bool
}

func newPluginsCommand(s *app.Services, run func(context.Context, *pluginsOptions) error) *cobra.Command {
	o := &pluginsOptions{out: s.Out, settings: s.Settings, skills: s.Skills, packages: s.Packages}
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the installed plugins",
		Example: "  agent skill manage list",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// runPlugins lists the skills of the plugin layer, in any state.
func runPlugins(ctx context.Context, o *pluginsOptions) error {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	type plugin struct {
		record
		Installed *installedJSON `json:"installed,omitempty"` // of one that was not copied there by hand
	}
	records, rows := []plugin{}, [][]string{}
	installed := o.packages.Installed(ctx)
	for e := range cat.All() {
		if e.Layer() != config.PluginDir {
			continue
		}
		r, sha, from := plugin{record: newRecord(o.settings, e)}, "", "copied to "+e.Path()
		if i := installed.Of(ctx, e); i != nil {
			r.Installed, sha, from = newInstalled(i), shaText(*i), app.From(*i)
			if i.Linked {
				from = "a link to " + i.InstalledPath
			}
			r.SHA = sha
		}
		active := activeCell(e)
		if other := replaced(ctx, e); other != nil {
			r.replaced(other)
			active = r.State
		}
		records = append(records, r)
		rows = append(rows, []string{e.Name(), app.OrDash(e.Version()), active, app.OrDash(sha), from})
	}
	if o.json {
		return o.out.JSON(map[string]any{"skills": records})
	}
	if len(records) == 0 {
		if !o.out.Quiet() {
			o.out.Hint("no plugins are installed")
		}
		return nil
	}
	return o.out.Table([]string{"NAME", "VERSION", "ACTIVE", "SHA", "FROM"}, rows)
}
