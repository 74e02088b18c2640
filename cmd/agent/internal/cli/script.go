package cli

import "github.com/spf13/cobra"

func scriptCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "script",
		Short: "List, explain and run the scripts of skills",
		Example: `  agent script list kalshi-markets
  agent script run kalshi-markets status`,
	})
	c.AddCommand(scriptListCommand(a), scriptHelpCommand(a), scriptRunCommand(a))
	return c
}
