package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

type scriptRunOptions struct {
	scriptCaller
	flags  *app.Flags
	skills *app.Library

	args       app.ScriptArgs
	text, json bool
}

func newScriptRunCommand(s *app.Services, run func(context.Context, *scriptRunOptions) error) *cobra.Command {
	o := &scriptRunOptions{scriptCaller: newScriptCaller(s), flags: s.Flags, skills: s.Skills}
	c := &cobra.Command{
		Use:   "run SKILL SCRIPT [-- ARGS...]",
		Short: "Run a script of a skill and print its result",
		Long: `Run a script and print the JSON that it answers with; with --text whatever it prints. With --json the result is
inside the envelope that a model would get. The script's own arguments follow "--".

A skill that is not bundled must be trusted first: on a terminal you are asked, else see "agent skill trust".`,
		Example: `  agent script run hello-extended advanced_greeting -- --name Ada
  agent script run kalshi-markets markets --timeout 30s -- --limit 5`,
		ValidArgsFunction: completeScripts(s),
		RunE: func(c *cobra.Command, args []string) error {
			if err := scriptArguments(c, args); err != nil {
				return err
			}
			o.args = app.ScriptArgs{Skill: args[0], Script: args[1], Args: args[2:]}
			return run(c.Context(), o)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var f *app.Failure
		errors.As(flagError(c, err), &f)
		f.Hint = `the script's own arguments follow "--": ` + c.CommandPath() + " SKILL SCRIPT -- ARGS"
		return f
	})
	c.Flags().BoolVar(&o.text, "text", false, "do not ask the script for JSON: print what it prints")
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
		return app.Usage(fmt.Errorf("%s needs the name of a skill and of a script", c.CommandPath()), helpHint(c))
	case before > 2:
		return app.Usage(fmt.Errorf("unexpected argument %q", args[2]), `the script's own arguments follow "--"`)
	}
	return nil
}

func runScriptRun(ctx context.Context, o *scriptRunOptions) error {
	if o.flags.Timeout < 0 {
		return app.Usage(fmt.Errorf("--timeout %s", o.flags.Timeout), "a time above zero, such as 30s")
	}
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return err
	}
	wantJSON := !o.text
	o.args.JSON = &wantJSON
	r, err := o.call(ctx, cat, "script_run", &o.args)
	if err != nil {
		return err
	}
	if !r.Success && r.Result != nil && !o.json { // a script that failed may have said why
		if text, ok := r.Result.(string); ok { // which nobody takes for its output: it is for reading alone
			r.Result = ui.Text(text)
		}
		if err := printResult(o.out, r); err != nil {
			return err
		}
	}
	return (&answer{o.out, o.settings, o.json}).print(r, func() string { return scriptHint(ctx, cat, &o.args, r) }, func() error {
		if _, note, ok := strings.Cut(r.Message, " script ("); ok { // what was cut off
			o.out.Warn(strings.TrimSuffix(note, ")"))
		}
		return printResult(o.out, r)
	})
}

// printResult prints a script's JSON, on several lines where a person reads it, or its text.
func printResult(out *app.Printer, r tool.Result) error {
	switch v := r.Result.(type) {
	case json.RawMessage:
		if out.OutTerminal {
			return out.JSONText(v)
		}
		return out.Foreign(string(v) + "\n") // byte for byte
	case string:
		return out.Foreign(v)
	}
	return out.JSON(r.Result)
}
