package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

const rootLong = `agent answers with the help of Agent Skills: folders with a SKILL.md. It finds, checks, discloses and runs them.

Without a command it is a conversation in the terminal; with -p it answers one prompt. It asks the model that --model,
the setting "model" or a key in the environment names, else a local server (Ollama, LM Studio, llama.cpp, vLLM). The
model activates skills that fit. A prompt "/NAME ARGUMENTS" has you activate one, also one that is kept from models.

Skills are bundled, or lie in .agents/skills, .agent/skills or .claude/skills of your home or of the project, or in
further folders. Nothing of them is executed but by "script run", "script help" and the agent itself, which runs the
scripts of bundled and trusted skills alone.`

const rootExample = `  agent                                     # a conversation
  agent -p "what are the odds of rain?"     # one answer; --json for the whole run
  agent -p "/hello-world Ada"               # activate a skill yourself
  git diff | agent -p "review this" --model anthropic/claude-sonnet-5-5
  agent -p "greet Ada" --model replay/demo  # no model: played from a file
  agent skill list                          # which skills there are
  agent skill why NAME                      # why one is loaded, or not
  agent skill prompt                        # what a model is told of them
  agent script run NAME SCRIPT -- ARGS      # run a script, get its JSON`

// globals are the flags of every command.
type globals struct {
	profile   string
	strict    bool
	skillsDir []string
	project   string
	quiet     bool
	verbose   bool
	logFormat string
	noColor   bool
}

func rootCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:               "agent",
		Short:             "Answer with the help of Agent Skills; find, check and run them",
		Long:              rootLong,
		Example:           rootExample,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.ready() },
	}
	f := c.PersistentFlags()
	g := &a.flags
	f.StringVar(&g.profile, "profile", "", "rules and defaults of the profile `NAME`")
	f.BoolVar(&g.strict, "strict", false, "the same as --profile spec")
	f.StringArrayVar(&g.skillsDir, "skills-dir", nil, "`DIR` with more skills, above all but the enterprise's (repeatable)")
	f.StringVar(&g.project, "project", "", "`DIR` of the project (default: the nearest parent with .git)")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no warnings and no progress")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "log what happens to stderr")
	f.StringVar(&g.logFormat, "log-format", "text", "`FORMAT` of the log: text or json")
	f.BoolVar(&g.noColor, "no-color", false, "no colours")
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(manifest.Profiles(), cobra.ShellCompDirectiveNoFileComp))
	c.SetFlagErrorFunc(flagError)
	group(c)
	rootFlags(a, c)
	c.SetHelpCommand(helpCommand())
	c.AddCommand(skillCommand(a), scriptCommand(a), doctorCommand(a), versionCommand(a), completionCommand(a))
	return c
}

// rootFlags gives the command its forms without a verb: --version and --check (R155).
func rootFlags(a *app, c *cobra.Command) {
	version := c.Flags().Bool("version", false, "print the version")
	check := c.Flags().Bool("check", false, "check every skill: what loads, what does not, and why")
	o := &agentOptions{}
	agentFlags(c, o)
	c.Flags().BoolVar(&o.json, "json", false, "print JSON, with -p, --check or --version")
	rest := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
		case *version:
			return a.version(o.json)
		case *check:
			return a.check(c.Context(), o.json)
		default:
			return a.agent(c, o)
		}
		return rest(c, args)
	}
}

// helpCommand is cobra's, but for a name that is not there: that is a mistake like any other.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show what a command does",
		Example: "  agent help skill list",
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(target, rest[0])
			}
			return target.Help()
		},
	}
}

// group makes a command that only holds others: alone it prints its help, and an unknown name is an error that names
// the nearest one.
func group(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.SuggestionsMinimumDistance = 2
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
	return c
}

func unknownCommand(c *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q for %q", name, c.CommandPath())
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return usage(err, fmt.Sprintf("did you mean %q?", c.CommandPath()+" "+near[0]))
	}
	return usage(err, fmt.Sprintf("%q lists the commands", c.CommandPath()+" --help"))
}

// flagError names the flag that is nearest to a mistyped one.
func flagError(c *cobra.Command, err error) error {
	if c.HasSubCommands() && c.Flags().NArg() > 0 { // the flag may be right: it is the command that is not known
		return unknownCommand(c, c.Flags().Arg(0))
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		return usage(fmt.Errorf("--%s %q %s", bad.GetFlag().Name, bad.GetValue(), wrongValue(bad)), helpHint(c))
	}
	var unknown interface{ GetSpecifiedName() string }
	if !errors.As(err, &unknown) {
		return usage(err, helpHint(c))
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if meant := near.Name(unknown.GetSpecifiedName(), names); meant != "" {
		return usage(err, fmt.Sprintf("did you mean --%s?", meant))
	}
	return usage(err, helpHint(c))
}

// wrongValue says what a flag's value is not.
func wrongValue(bad *pflag.InvalidValueError) string {
	switch kind := bad.GetFlag().Value.Type(); {
	case errors.Is(bad, strconv.ErrRange):
		return "is too large"
	case kind == "int":
		return "is no whole number"
	case kind == "duration":
		return "is no time, such as 30s or 2m"
	case kind == "bool":
		return "is neither true nor false"
	}
	return "makes no sense"
}

func helpHint(c *cobra.Command) string {
	return fmt.Sprintf("%q shows how it is used", c.CommandPath()+" --help")
}

// arguments checks the number of arguments; names says what they are, for the error.
func arguments(least, most int, names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(fmt.Errorf("%s needs %s", c.CommandPath(), names), helpHint(c))
		case most >= 0 && len(args) > most:
			return usage(fmt.Errorf("%s takes %s, got %s too", c.CommandPath(), names, strings.Join(quoted(args[most:]), " ")), helpHint(c))
		}
		return nil
	}
}

func quoted(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = fmt.Sprintf("%q", s)
	}
	return out
}
