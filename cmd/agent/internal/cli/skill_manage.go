package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/skill"
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

func newPluginsCommand(s *app.Services, run func(context.Context, *listOptions) error) *cobra.Command {
	c, _ := listing(s, run, &cobra.Command{Use: "list", Short: "List the installed plugins", Example: "  agent skill manage list"})
	return c
}

// runPlugins lists the skills of the plugin layer, in any state.
func runPlugins(ctx context.Context, o *listOptions) error {
	l, err := o.look(ctx)
	if err != nil {
		return err
	}
	l.sha, l.installed = map[skill.Entry]string{}, map[skill.Entry]*installedJSON{}
	var plugins []skill.Entry
	var rows [][]string
	installed := o.packages.Installed(ctx)
	for e := range l.cat.All() {
		if e.Layer() != config.PluginDir {
			continue
		}
		from := "copied to " + e.Path()
		if i := installed.Of(ctx, e); i != nil {
			l.installed[e], l.sha[e], from = newInstalled(i), shaText(*i), packages.From(*i)
			if i.Linked {
				from = "a link to " + i.InstalledPath
			}
		}
		plugins = append(plugins, e)
		rows = append(rows, []string{e.Name(), output.OrDash(e.Version()), l.active(e), output.OrDash(l.sha[e]), from})
	}
	switch {
	case o.json:
		return l.print(slices.Values(plugins))
	case len(plugins) == 0 && !o.out.Quiet():
		o.out.Hint("no plugins are installed")
	case len(plugins) > 0:
		return o.out.Table([]string{"NAME", "VERSION", "ACTIVE", "SHA", "FROM"}, rows)
	}
	return nil
}
