package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/near"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script for bash, zsh, fish or powershell",
		Example: `  source <(agent completion bash)
  agent completion fish > ~/.config/fish/completions/agent.fish`,
		Args:      arguments(1, 1, "the name of a shell: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), a.ui.Out
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			err := fmt.Errorf("no completion for %q", args[0])
			if meant := near.Name(args[0], shells); meant != "" {
				return usage(err, fmt.Sprintf("did you mean %q?", meant))
			}
			return usage(err, helpHint(c))
		},
	}
}

// completeSkills offers the names of skills for the first argument.
func (a *app) completeSkills(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.flags.quiet = true
	cat, err := a.catalog(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for e := range cat.All() {
		out = append(out, cobra.CompletionWithDesc(e.Canonical(), ui.Truncate(e.Brief(), showWidth)))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
