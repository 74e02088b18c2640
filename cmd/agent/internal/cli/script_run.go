package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

type scriptRunOptions struct {
	scriptCaller
	sys    *setup.System
	flags  *setup.Flags
	skills *library.Library

	request skilltool.RunRequest
	text    bool
	json    bool
}

func newScriptRunCommand(s *app.Services, run func(context.Context, *scriptRunOptions) error) *cobra.Command {
	o := &scriptRunOptions{scriptCaller: newScriptCaller(s), sys: s.Sys, flags: s.Flags, skills: s.Skills}
	c := &cobra.Command{
		Use:   "run SKILL SCRIPT [-- ARGS...]",
		Short: "Run a script of a skill and print its result",
		Long: `Run a script and print its output. It starts in the present directory (setting cwd) and is asked for JSON if it declares a
flag --json (--script-json). With --json, print the envelope that a model would get. The script's own arguments follow "--". What is
piped into the command is the script's standard input.

A skill that is not bundled must be trusted first: on a terminal you are asked, otherwise see "agent skill trust".`,
		Example: `  agent script run hello-extended advanced_greeting -- --name Ada
  agent script run kalshi-markets markets --timeout 30s -- --limit 5
  agent script run csv-report summarise <sales.csv`,
		ValidArgsFunction: completeScripts(s),
		RunE: func(c *cobra.Command, args []string) error {
			if err := scriptArguments(c, args); err != nil {
				return err
			}
			o.request.Skill, o.request.Script, o.request.Args = args[0], args[1], args[2:]
			return run(c.Context(), o)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var f *failure.Error
		errors.As(flagError(c, err), &f)
		f.Hint = `the script's own arguments follow "--": ` + c.CommandPath() + " SKILL SCRIPT -- ARGS"
		return f
	})
	c.Flags().StringVar((*string)(&o.request.JSON), "script-json", "", "ask the script for JSON by this `MODE`: auto, yes or no (default: the setting scriptJson)")
	_ = c.RegisterFlagCompletionFunc("script-json", cobra.FixedCompletions([]cobra.Completion{
		cobra.CompletionWithDesc("auto", "where the script declares --json"), cobra.CompletionWithDesc("yes", "always"),
		cobra.CompletionWithDesc("no", "never; --text is short for it"),
	}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().BoolVar(&o.text, "text", false, "do not ask the script for JSON: --script-json no")
	c.Flags().DurationVar(&s.Flags.Timeout, "timeout", 0, "end the script after this `TIME`, such as 30s or 2m (default: the setting scriptTimeout)")
	c.Flags().BoolVar(&o.json, "json", false, "print the whole result as JSON")
	return c
}

// scriptArguments checks that a skill and a script come before "--", and nothing else does.
func scriptArguments(c *cobra.Command, args []string) error {
	before := c.ArgsLenAtDash()
	if before < 0 {
		before = len(args)
	}
	switch {
	case before < 2:
		return failure.Usage(fmt.Errorf("%s needs the name of a skill and of a script", c.CommandPath()), helpHint(c))
	case before > 2:
		return failure.Usage(fmt.Errorf("unexpected argument %q", args[2]), `the script's own arguments follow "--"`)
	}
	return nil
}

// check refuses flags that make no sense, and applies --text.
func (o *scriptRunOptions) check() error {
	switch mode := o.request.JSON; {
	case o.flags.Timeout < 0:
		return failure.Usage(fmt.Errorf("invalid --timeout %s", o.flags.Timeout), "use a duration above zero, such as 30s")
	case mode != "" && mode != script.JSONAuto && mode != script.JSONYes && mode != script.JSONNo:
		return failure.Usage(fmt.Errorf("invalid --script-json %q", string(mode)), "use auto, yes or no")
	case o.text && mode != "" && mode != script.JSONNo:
		return failure.Usage(fmt.Errorf("--text and --script-json %s at once", mode), "--text is --script-json no")
	case o.text:
		o.request.JSON = script.JSONNo
	}
	return nil
}

func runScriptRun(ctx context.Context, o *scriptRunOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.sys.Piped() {
		o.request.Stdin = o.sys.In
	}
	cat, err := o.skills.OpenFor(ctx, o.request.Skill)
	if err != nil {
		return err
	}
	var res *skilltool.RunResult
	r, err := o.call(ctx, cat, o.request.Skill, o.request.Script, func(kit *skilltool.Kit) (tool.Result, error) {
		if res, err = kit.RunScript(ctx, &o.request); err != nil {
			return tool.Result{}, err
		}
		return res.Envelope(), nil
	})
	var failed *script.Error
	var had *runner.Sandbox
	if res != nil {
		had = &res.Sandbox
	} else if errors.As(err, &failed) {
		had = failed.Sandbox
	}
	if warning := o.sandbox.Warning(had); warning != "" && !o.json {
		o.out.Warn(warning)
	}
	if failed != nil && !o.json { // a script that failed may have printed why
		if err := printSaid(o.out, failed.Said()); err != nil {
			return err
		}
	}
	return (&answer{o.out, o.settings, o.json}).scripted(r, err, func() string { return scriptHint(ctx, o.settings, cat, o.request.Skill, err) }, func() error {
		if res.Warning != "" {
			o.out.Warn(res.Warning)
		}
		if res.JSON == nil {
			return o.out.Foreign(res.Text)
		}
		return printDocument(o.out, res.JSON)
	})
}

// printDocument prints a script's JSON, on several lines where a person reads it, else byte for byte.
func printDocument(out *output.Printer, doc json.RawMessage) error {
	if out.OutTerminal {
		return out.JSONText(doc)
	}
	return out.Foreign(string(doc) + "\n")
}

// printSaid prints what a script printed before it failed; nothing for nil. Text goes to stderr: it is not the script's
// output.
func printSaid(out *output.Printer, said any) error {
	switch v := said.(type) {
	case json.RawMessage:
		return printDocument(out, v)
	case string:
		return out.Foreign(ui.Text(v))
	}
	return nil
}
