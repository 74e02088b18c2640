package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

type runOptions struct {
	text, json bool
	timeout    time.Duration
}

// runArgs are the arguments of the tools script_help and script_run.
type runArgs struct {
	Skill  string   `json:"skill_name"`
	Script string   `json:"script_name"`
	Args   []string `json:"args,omitempty"`
	JSON   *bool    `json:"json,omitempty"`
}

func scriptRunCommand(a *app) *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run SKILL SCRIPT [-- ARGS...]",
		Short: "Run a script of a skill and print its result",
		Long: `Run a script and print the JSON that it answers with; with --text whatever it prints. With --json the result is
inside the envelope that a model would get. The script's own arguments follow "--".

A skill that is not bundled must be trusted first: on a terminal you are asked, else see "agent skill trust".`,
		Example: `  agent script run hello-extended advanced_greeting -- --name Ada
  agent script run kalshi-markets markets --timeout 30s -- --limit 5`,
		ValidArgsFunction: a.completeScripts,
		RunE: func(c *cobra.Command, args []string) error {
			if err := scriptArguments(c, args); err != nil {
				return err
			}
			return a.runScript(c.Context(), &runArgs{Skill: args[0], Script: args[1], Args: args[2:]}, o)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		var f *failure
		errors.As(flagError(c, err), &f)
		f.hint = `the script's own arguments follow "--": ` + c.CommandPath() + " SKILL SCRIPT -- ARGS"
		return f
	})
	c.Flags().BoolVar(&o.text, "text", false, "do not ask the script for JSON: print what it prints")
	c.Flags().DurationVar(&o.timeout, "timeout", 0, "end the script after this `TIME`, such as 30s or 2m (default: the setting scriptTimeout)")
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
		return usage(fmt.Errorf("%s needs the name of a skill and of a script", c.CommandPath()), helpHint(c))
	case before > 2:
		return usage(fmt.Errorf("unexpected argument %q", args[2]), `the script's own arguments follow "--"`)
	}
	return nil
}

func (a *app) runScript(ctx context.Context, args *runArgs, o *runOptions) error {
	if o.timeout < 0 {
		return usage(fmt.Errorf("--timeout %s", o.timeout), "a time above zero, such as 30s")
	}
	a.timeout = o.timeout
	cat, err := a.catalog(ctx)
	if err != nil {
		return err
	}
	wantJSON := !o.text
	args.JSON = &wantJSON
	r, err := a.callScript(ctx, cat, "script_run", args)
	if err != nil {
		return err
	}
	if !r.Success && r.Result != nil && !o.json { // a script that failed may have said why
		if text, ok := r.Result.(string); ok { // which nobody takes for its output: it is for reading alone
			r.Result = ui.Text(text)
		}
		if err := a.printResult(r); err != nil {
			return err
		}
	}
	return a.answer(r, o.json, func() string { return scriptHint(ctx, cat, args, r) }, func() error {
		if _, note, ok := strings.Cut(r.Message, " script ("); ok { // what was cut off (C31)
			a.warn(strings.TrimSuffix(note, ")"))
		}
		return a.printResult(r)
	})
}

// printResult prints a script's JSON, on several lines where a person reads it, or its text.
func (a *app) printResult(r tool.Result) error {
	switch v := r.Result.(type) {
	case json.RawMessage:
		if a.ui.OutTerminal {
			return a.printLine(v)
		}
		return a.ui.Foreign(string(v) + "\n") // byte for byte
	case string:
		return a.ui.Foreign(v)
	}
	return a.printJSON(r.Result)
}
