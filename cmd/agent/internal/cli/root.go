package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
)

const rootLong = `agent answers with the help of Agent Skills: folders with a SKILL.md. It finds, checks, discloses and runs them.

Without a command it starts a conversation in the terminal, which a prompt in quotes or after "--" begins; with -p it answers
one prompt. --model, the setting "model" or a key in the environment chooses the model. Otherwise agent looks for a local
server (Ollama, LM Studio, llama.cpp, vLLM).
The model activates skills that fit. To activate one yourself, type "/NAME ARGUMENTS"; this also works for skills that are
hidden from models. "@FILE" in a prompt attaches a file of the project, or the list of a folder.

Some skills are bundled. Others are read from .agents/skills, .agent/skills and .claude/skills in your home and in the
project, and from folders that you name. The agent runs only scripts of bundled and trusted skills.`

const rootExample = `  agent                                     # a conversation
  agent "fix the bug"                       # a conversation that begins with this prompt
  agent -p "what are the odds of rain?"     # one answer; --json for the whole run
  agent -p "/hello-world Ada"               # activate a skill yourself
  git diff | agent -p "review this" --model anthropic/claude-sonnet-5-5
  agent -p "fix it" --mode accept-edits     # change files without a question; agent undo takes them back
  agent -c                                  # go on with the last conversation
  agent -p "and now?" --resume ID           # ask once more in an earlier one
  agent -p "greet Ada" --model replay/demo  # no model: played from a file
  agent skill list                          # list the skills
  agent skill why NAME                      # why one is loaded, or not
  agent skill prompt                        # the list of skills that a model gets
  agent script run NAME SCRIPT -- ARGS      # run a script, get its JSON`

func newRootCommand(s *app.Services) *cobra.Command {
	c := &cobra.Command{
		Use:               "agent",
		Short:             "Answer with the help of Agent Skills; find, check and run them",
		Long:              rootLong,
		Example:           rootExample,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if err := s.Begin(); err != nil || worksForNobody(c) {
				return err
			}
			if err := s.Governed(); err != nil {
				return err
			}
			if s.Settings.Config().Agent.Plain {
				s.Out.Plain()
			}
			return s.Settings.NeedTenant()
		},
	}
	f, g := c.PersistentFlags(), s.Flags
	f.StringVar(&g.Profile, "profile", "", "rules and defaults of the profile `NAME`")
	f.BoolVar(&g.Strict, "strict", false, "the same as --profile spec")
	f.StringArrayVar(&g.SkillsDir, "skills-dir", nil, "read more skills from `DIR`; only enterprise skills take precedence (repeatable)")
	f.StringVar(&g.Project, "project", "", "`DIR` of the project (default: the nearest parent with .git)")
	f.StringVar(&g.Sandbox, "sandbox", "", "confine scripts and commands by this `MODE`: off, auto or required")
	f.BoolVarP(&g.Quiet, "quiet", "q", false, "print no warnings and no progress")
	f.BoolVarP(&g.Verbose, "verbose", "v", false, "write a log to stderr")
	f.StringVar(&g.LogFormat, "log-format", "text", "`FORMAT` of the log: text or json")
	f.BoolVar(&g.NoColor, "no-color", false, "no colours")
	f.BoolVar(&g.Plain, "plain", false, "lines alone, without colours and with no row that is drawn again")
	_ = c.RegisterFlagCompletionFunc("profile", cobra.FixedCompletions(manifest.Profiles(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("sandbox", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc("off", "no sandbox"), cobra.CompletionWithDesc("auto", "the strongest that the machine has"),
		cobra.CompletionWithDesc("required", "refuse without one"),
	}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc("text", "key=value, for people"), cobra.CompletionWithDesc("json", "one object a line"),
	}, cobra.ShellCompDirectiveNoFileComp))
	c.SetFlagErrorFunc(flagError)
	group(c)
	rootForms(s, c)
	c.SetHelpFunc(helpText(s.Out))
	c.SetHelpCommand(newHelpCommand())
	c.AddCommand(newSkillCommand(s), newScriptCommand(s), newConversationsCommand(s), newUndoCommand(s, runUndo), newInitCommand(s, runInit), newPermissionsCommand(s), newPolicyCommand(s), newAuditCommand(s), newDoctorCommand(s, runDoctor), newServeCommand(s, runServe), newWorkerCommand(s, runWorker), newFleetCommand(s), newACPCommand(s), newMCPCommand(s), newVersionCommand(s, runVersion),
		newCompletionCommand(s, runCompletion), newExecCommand(s))
	return c
}

// worksForNobody reports whether a command uses nothing that is kept for a tenant, or says what is wrong with its name. The
// commands of cobra that complete others know no flags yet; where there is no tenant they find nothing that is kept.
func worksForNobody(c *cobra.Command) bool {
	for ; c.HasParent(); c = c.Parent() {
		if slices.Contains([]string{"version", "completion", "help", "doctor", "policy", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, c.Name()) {
			return true
		}
	}
	return false
}

// rootForms gives the command its forms without a verb: the agent itself, --version and --check.
func rootForms(s *app.Services, c *cobra.Command) {
	o := newAgentOptions(s)
	version := c.Flags().Bool("version", false, "print the version")
	check := c.Flags().Bool("check", false, "check every skill: what loads, what does not, and why")
	c.Flags().StringVarP(&o.Prompt, "prompt", "p", "", "answer this `TEXT` and end; \"-\" reads it from stdin")
	agentFlags(s, c, o)
	rest := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Asked = o.Asked || c.Flags().Changed("prompt")
		args, err := pastArgs(&o.Past, args)
		if err != nil {
			return err
		}
		switch {
		case o.Asked && strings.HasPrefix(o.Prompt, "--"): // the text comes later, or not at all: the error says so
		case len(args) > 0 && (!isPrompt(c, args) || o.Asked || *version || *check):
			return rest(c, args)
		case *version:
			return runVersion(c.Context(), &versionOptions{out: s.Out, json: o.JSON})
		case *check:
			return runCheck(c.Context(), newCheckOptions(s, o.JSON))
		case len(args) > 0:
			o.Prompt = strings.Join(args, " ")
		}
		return worker.Run(c.Context(), o)
	}
}

// newExecCommand is -p as others write it.
func newExecCommand(s *app.Services) *cobra.Command {
	o := newAgentOptions(s)
	c := &cobra.Command{
		Use:     "exec TEXT",
		Short:   "Answer one prompt, as -p does",
		Example: `  agent exec "what are the odds of rain?"`,
		Hidden:  true,
		Args:    arguments(1, 1, "one TEXT in quotes"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Prompt, o.Asked = args[0], true
			return worker.Run(c.Context(), o)
		},
	}
	agentFlags(s, c, o)
	return c
}

func newAgentOptions(s *app.Services) *worker.Options {
	return &worker.Options{Services: s, Why: func(ctx context.Context, s *app.Services, name string) error {
		return runWhy(ctx, &whyOptions{inspector: newInspector(s), out: s.Out, name: name})
	}, Init: func(ctx context.Context, s *app.Services) error {
		return runInit(ctx, &initOptions{services: s, out: s.Out, settings: s.Settings})
	}}
}

// isPrompt reports whether the arguments of the command without a verb begin a conversation: one that has white space, or what
// follows "--". A single word is rather a mistyped command.
func isPrompt(c *cobra.Command, args []string) bool {
	return c.ArgsLenAtDash() == 0 || len(args) == 1 && strings.ContainsFunc(args[0], unicode.IsSpace)
}

// agentFlags gives a command the flags of the agent itself.
func agentFlags(s *app.Services, c *cobra.Command, o *worker.Options) {
	workFlags(s, c, o)
	f := c.Flags()
	f.BoolVar(&o.Stream, "stream", false, "with -p: print the answer as it arrives; with --json, one line for each step")
	f.StringVar(&o.Input, "input-format", "text", "`FORMAT` of stdin: text, or json for lines with prompts, stops and answers; json prints as --stream --json")
	f.BoolVar(&o.JSON, "json", false, "print JSON, with -p, --check or --version")
	_ = c.RegisterFlagCompletionFunc("input-format", cobra.FixedCompletions([]cobra.Completion{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	pastFlags(s, c, &o.Past)
	addHabits(f, o, s.Flags)
}

// workFlags gives a command the flags that say how the agent works.
func workFlags(s *app.Services, c *cobra.Command, o *worker.Options) {
	f, g := c.Flags(), s.Flags
	f.StringVarP(&o.Model, "model", "m", "", "the model to ask, as `PROVIDER/NAME`")
	f.StringVar(&g.Effort, "effort", "", "how much the model thinks: `EFFORT` is low, medium, high or another that the model has")
	f.BoolVar(&g.NoContext, "no-context", false, "without AGENTS.md and CLAUDE.md, the date and the status of git")
	f.StringVar(&g.Mode, "mode", "", "what needs no question: `MODE` is ask, accept-edits, plan, read-only or all")
	f.StringArrayVar(&g.Allow, "allow", nil, "allow calls by a `RULE` such as 'Bash(go test:*)' or 'Edit(docs/**)' (repeatable)")
	f.StringArrayVar(&g.Deny, "deny", nil, "refuse calls by a `RULE` such as 'Read(.env)' (repeatable)")
	f.BoolVar(&g.AllowBash, "allow-bash", false, "let the model run shell commands without asking, even as you, outside the sandbox")
	f.BoolVar(&g.WithoutSandbox, "without-sandbox", false, "with --mode all: also without a sandbox; whatever the model runs, it runs as you")
	f.StringVar(&o.System, "append-system-prompt", "", "add this `TEXT` to the system prompt")
	f.IntVar(&o.MaxTurns, "max-turns", 0, "limit of `REQUESTS` to the model for one prompt (default: the setting maxTurns)")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeCompletions(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("effort", cobra.FixedCompletions(models.Efforts(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("model", cobra.FixedCompletions(models.Names(), cobra.ShellCompDirectiveNoSpace))
}

// newHelpCommand is cobra's help command, except that an unknown name is an error.
func newHelpCommand() *cobra.Command {
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

// group makes a command that only has subcommands: alone it prints its help, and an unknown name is an error that names
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
	near := ""
	if list := c.SuggestionsFor(name); len(list) > 0 {
		near = c.CommandPath() + " " + list[0]
	}
	near = cmp.Or(below(c, name), near)
	for _, other := range c.Commands() {
		if slices.Contains(other.SuggestFor, name) {
			near = other.CommandPath() // what other programs call it, not what is written alike
		}
	}
	if hint := otherCommands[name]; hint != "" && !c.HasParent() {
		return failure.Usage(err, hint)
	}
	if near != "" {
		return failure.Usage(err, fmt.Sprintf("did you mean %q?", near))
	}
	return failure.Usage(err, fmt.Sprintf("run %q for the commands", c.CommandPath()+" --help"))
}

// below returns the command of that name in a group below c, that of skills before others, or "".
func below(c *cobra.Command, name string) string {
	found := ""
	for _, group := range c.Commands() {
		for _, sub := range group.Commands() {
			if sub.Name() == name && !sub.Hidden && (found == "" || group.Name() == "skill") {
				found = sub.CommandPath()
			}
		}
	}
	return found
}

// flagError names the flag that is nearest to a mistyped one.
func flagError(c *cobra.Command, err error) error {
	if c.HasSubCommands() && c.Flags().NArg() > 0 { // the flag may be right: it is the command that is not known
		return unknownCommand(c, c.Flags().Arg(0))
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		if v, ok := bad.GetFlag().Value.(*habitValue); ok {
			return failure.Usage(wrongValue(bad), v.known())
		}
		return failure.Usage(wrongValue(bad), helpHint(c))
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return failure.Usage(err, valueHint(c, missing.GetFlag()))
	}
	var unknown interface{ GetSpecifiedName() string }
	if !errors.As(err, &unknown) {
		return failure.Usage(err, helpHint(c))
	}
	if name := unknown.GetSpecifiedName(); (name == "yes" || name == "y") && c.Flags().Lookup("trusted") != nil {
		return failure.Usage(err, "--trusted answers the question beforehand")
	}
	if hint := otherFlag(unknown.GetSpecifiedName()); hint != "" && c.Flags().Lookup("prompt") != nil {
		return failure.Usage(err, hint)
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if meant := near.Name(unknown.GetSpecifiedName(), names); meant != "" {
		return failure.Usage(err, fmt.Sprintf("did you mean --%s?", meant))
	}
	return failure.Usage(err, helpHint(c))
}

// valueHint says what the value of a flag is.
func valueHint(c *cobra.Command, f *pflag.Flag) string {
	if f.Name == "trust" && c.Flags().Lookup("trusted") != nil {
		return "--trust takes the digest of the content; --trusted approves without a question whatever it is"
	}
	value, use := pflag.UnquoteUsage(f)
	return fmt.Sprintf("write --%s %s: %s", f.Name, value, use)
}

// excluding returns the error of cobra for flags that exclude each other in our words, and any other unchanged.
func excluding(err error) error {
	if err == nil || !strings.HasPrefix(err.Error(), "if any flags in the group [") {
		return err
	}
	_, set, _ := strings.Cut(err.Error(), "; [")
	names := strings.Fields(strings.TrimSuffix(set, "] were all set"))
	return failure.Usage(errors.New("--"+strings.Join(names, " and --")+" exclude each other"), "leave out all but one")
}

// wrongValue returns the error for a flag's value.
func wrongValue(bad *pflag.InvalidValueError) error {
	name, value := bad.GetFlag().Name, bad.GetValue()
	switch kind := bad.GetFlag().Value.Type(); {
	case errors.Is(bad, strconv.ErrRange):
		return fmt.Errorf("number %q for --%s is too large", value, name)
	case kind == "int":
		return fmt.Errorf("invalid number %q for --%s", value, name)
	case kind == "duration":
		return fmt.Errorf("invalid duration %q for --%s (use 30s or 2m)", value, name)
	case kind == "bool":
		return fmt.Errorf("invalid value %q for --%s (use true or false)", value, name)
	}
	return fmt.Errorf("invalid value %q for --%s", value, name)
}

func helpHint(c *cobra.Command) string {
	return fmt.Sprintf("run %q for help", c.CommandPath()+" --help")
}

// arguments checks the number of arguments; names says what they are, for the error.
func arguments(least, most int, names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return failure.Usage(fmt.Errorf("%s needs %s", c.CommandPath(), names), helpHint(c))
		case most >= 0 && len(args) > most:
			got := "got "
			if most > 0 {
				got = "also got "
			}
			return failure.Usage(fmt.Errorf("%s takes %s, but %s%s", c.CommandPath(), names, got, strings.Join(quoted(args[most:]), " ")), helpHint(c))
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

func newSkillCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "skill",
		Short: "Manage agent skills",
		Example: `  agent skill list
  agent skill why kalshi-markets
  agent skill prompt --tokens`,
	})
	section(c, "Look at skills:",
		newListCommand(s, runList), newShowCommand(s, runShow), newInfoCommand(s, runInfo), newWhyCommand(s, runWhy), newSearchCommand(s, runSearch), newReadCommand(s, runRead),
		newStatsCommand(s, runStats))
	section(c, "Show what a model gets:",
		newPromptCommand(s, runPrompt), newActivateCommand(s, runActivate))
	section(c, "Use toolsets:",
		newSkillToolsCommand(s, runSkillTools), newSkillCallCommand(s, runSkillCall))
	section(c, "Write skills:",
		newCreateCommand(s, runCreate), newTestCommand(s, runTest), newDevCommand(s, runDev), newValidateCommand(s, runValidate), newScanCommand(s, runScan), newPackCommand(s, runPack), newPublishCommand(s, runPublish), newExportCommand(s, runExport))
	section(c, "Install skills:",
		newAddCommand(s, runAdd), newCICommand(s, runCI), newLockCommand(s, runLock), newUpdateCommand(s, runUpdate), newOutdatedCommand(s, runUpdate), newRollbackCommand(s, runRollback), newRemoveCommand(s, runRemove),
		newVerifyCommand(s, runVerify), newRepairCommand(s, runRepair), newGCCommand(s, runGC))
	section(c, "Decide:",
		newEnableCommand(s, runSwitch), newDisableCommand(s, runSwitch), newTrustCommand(s, runTrust), newUntrustCommand(s, runUntrust), newGrantCommand(s, runGrant), newRevokeCommand(s, runRevoke), newPrepareCommand(s, runPrepare), newManageCommand(s))
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

// modeCompletions are the values of --mode with what they mean.
func modeCompletions() (out []cobra.Completion) {
	for _, m := range worker.Modes() {
		out = append(out, cobra.CompletionWithDesc(string(m.Mode), m.About))
	}
	return out
}
