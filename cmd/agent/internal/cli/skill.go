package cli

import "github.com/spf13/cobra"

func skillCommand(a *app) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "skill",
		Short: "Manage agent skills", // R151
		Example: `  agent skill list
  agent skill why kalshi-markets
  agent skill prompt --tokens`,
	})
	section(c, "See what there is:", listCommand(a), showCommand(a), infoCommand(a), whyCommand(a), searchCommand(a), readCommand(a))
	section(c, "See what a model gets:", promptCommand(a), activateCommand(a))
	section(c, "Write skills:", createCommand(a), validateCommand(a))
	section(c, "Decide:", enableCommand(a), disableCommand(a), trustCommand(a), untrustCommand(a), prepareCommand(a), manageCommand(a))
	return c
}

// section adds commands under a title of the group's help.
func section(c *cobra.Command, title string, commands ...*cobra.Command) {
	c.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, sub := range commands {
		sub.GroupID = title
		c.AddCommand(sub)
	}
}
