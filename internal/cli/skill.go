package cli

import "github.com/spf13/cobra"

func skillCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "skill",
		Short: "Manage agent skills", // R151
		Example: `  agent skill list
  agent skill info kalshi-markets`,
	})
	c.AddCommand(
		listCommand(a),
		showCommand(a),
		promptCommand(a),
		searchCommand(a),
		createCommand(a),
	)
	return c
}
