package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

type completionOptions struct {
	out *output.Printer

	root  *cobra.Command
	shell string
}

func newCompletionCommand(s *app.Services, run func(context.Context, *completionOptions) error) *cobra.Command {
	o := &completionOptions{out: s.Out}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Example: `  source <(agent completion bash)
  agent completion fish > ~/.config/fish/completions/agent.fish`,
		Args:      arguments(1, 1, "the name of a shell: bash, zsh, fish or powershell"),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			o.root, o.shell = c.Root(), args[0]
			return run(c.Context(), o)
		},
	}
}

func runCompletion(_ context.Context, o *completionOptions) error {
	switch o.shell {
	case "bash":
		if err := o.root.GenBashCompletionV2(o.out.Out, true); err != nil {
			return err
		}
		_, err := io.WriteString(o.out.Out, plainBash)
		return err
	case "zsh":
		return o.root.GenZshCompletion(o.out.Out)
	case "fish":
		return o.root.GenFishCompletion(o.out.Out, true)
	case "powershell":
		return o.root.GenPowerShellCompletionWithDesc(o.out.Out)
	}
	err := fmt.Errorf("no completion for %q", o.shell)
	if meant := near.Name(o.shell, shells); meant != "" {
		return failure.Usage(err, fmt.Sprintf("did you mean %q?", meant))
	}
	return failure.Usage(err, `run "agent completion --help" for help`)
}

// plainBash follows the script for bash. That needs functions of the package bash-completion, which many machines do not have.
const plainBash = `
# What follows takes the place of the package bash-completion where it is missing.
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    __agent_init_completion()
    {
        COMPREPLY=()
        local line=${COMP_LINE:0:$COMP_POINT}
        read -r -a words <<<"$line"
        if [[ $line == *[[:space:]] ]]; then
            words+=("")
        fi
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=${words[cword > 0 ? cword - 1 : 0]}
    }
fi
if ! declare -F _filedir >/dev/null; then
    _filedir()
    {
        local kind=-f name
        if [[ ${1-} == -d ]]; then
            kind=-d
        fi
        while IFS= read -r name; do
            COMPREPLY+=("$name")
        done < <(compgen "$kind" -- "$cur")
    }
fi
`

// complete is how cobra asks for the words that an argument can be.
type complete = func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// completeSkills offers the names of skills for the first argument.
func completeSkills(s *app.Services) complete {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cat, err := s.Skills.OpenQuietly(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []cobra.Completion
		for e := range cat.All() {
			out = append(out, cobra.CompletionWithDesc(e.Canonical(), ui.Truncate(e.Brief(), showWidth)))
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSkillsAndFiles offers the names of skills, and files and folders where no name fits.
func completeSkillsAndFiles(s *app.Services) complete {
	skills := completeSkills(s)
	return func(c *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if strings.ContainsAny(word, "./") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names, _ := skills(c, nil, word)
		return names, cobra.ShellCompDirectiveDefault
	}
}

// completeInstalled offers the names of installed skills for every argument.
func completeInstalled(s *app.Services) complete {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, e := range s.Packages.Installed(c.Context()).All() {
			if !slices.Contains(args, e.NameCanonical) {
				out = append(out, cobra.CompletionWithDesc(e.NameCanonical, ui.Truncate(e.Source, showWidth)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeScripts offers skills for the first argument and that skill's scripts for the second.
func completeScripts(s *app.Services) complete {
	return completeParts(s, func(opened *skill.Skill, word string) (out []cobra.Completion) {
		set := survey.Of(opened.FS(), opened.Manifest(), s.Settings.Survey())
		for _, sc := range set.List() {
			out = append(out, cobra.CompletionWithDesc(sc.Name, sc.File))
		}
		for _, sc := range set.Runnable() {
			if strings.Contains(word, "/") && strings.HasPrefix(sc.File, word) { // a path, of one that is not listed too
				out = append(out, sc.File)
			}
		}
		return out
	})
}

// completeTools offers skills for the first argument, for the second the tools that the skill's toolsets had when they last ran,
// and then the arguments of the tool.
func completeTools(s *app.Services) complete {
	first := completeSkills(s)
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return first(c, args, word)
		}
		var out []cobra.Completion
		if opened := peek(c.Context(), s.Skills, args[0]); opened != nil {
			defer opened.Close()
			tools, _ := s.Tools.KnownTools(c.Context(), opened)
			for _, t := range tools {
				about, _, _ := strings.Cut(t.Description, "\n")
				switch {
				case len(args) == 1:
					out = append(out, cobra.CompletionWithDesc(t.Name, about))
				case c.Name() == "call" && t.Name == args[1]:
					for _, name := range skilltool.Parameters(t.Input) {
						out = append(out, name+"=")
					}
				}
			}
		}
		if len(args) > 1 {
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeVariables offers the environment variables that the skill of the first argument declares or reads.
func completeVariables(s *app.Services) complete {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if opened := peek(c.Context(), s.Skills, args[0]); opened != nil {
			defer opened.Close()
			seen := s.Scanner.Glance(c.Context(), opened)
			variables, _ := s.Grants.Variables(c.Context(), opened, &seen)
			for _, v := range variables {
				out = append(out, v.Name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFiles offers skills for the first argument and that skill's files for the second.
func completeFiles(s *app.Services) complete {
	return completeParts(s, func(opened *skill.Skill, _ string) (out []cobra.Completion) {
		for _, f := range filesOf(opened) {
			if f.Path == ui.Line(f.Path) { // no other name reaches the shell
				out = append(out, cobra.CompletionWithDesc(f.Path, bytesText(f.Size)))
			}
		}
		return out
	})
}

// completeParts offers skills for the first argument, and for the second what parts returns for that skill and the beginning of a word.
func completeParts(s *app.Services, parts func(opened *skill.Skill, word string) []cobra.Completion) complete {
	first := completeSkills(s)
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return first(c, args, word)
		}
		opened := peek(c.Context(), s.Skills, args[0])
		if opened == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer opened.Close()
		return parts(opened, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// peek opens a skill without printing anything. It returns nil if the skill cannot be opened.
func peek(ctx context.Context, skills *library.Library, name string) *skill.Skill {
	cat, err := skills.OpenQuietly(ctx)
	if err != nil {
		return nil
	}
	e, err := cat.Lookup(name)
	if err != nil {
		return nil
	}
	s, err := e.Load(ctx)
	if err != nil {
		return nil
	}
	return s
}
