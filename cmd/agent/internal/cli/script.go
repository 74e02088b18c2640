package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/sandbox"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

func newScriptCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "script",
		Short: "List, explain and run the scripts of skills",
		Long: `List, explain and run the scripts of skills. A script is called by the name that "agent script list" shows, or by its path
in the skill, as SKILL.md writes it. Files that can be run and are not listed are called by their path.`,
		Example: `  agent script list kalshi-markets
  agent script run kalshi-markets status`,
	})
	c.AddCommand(newScriptListCommand(s, runScriptList), newScriptHelpCommand(s, runScriptHelp), newScriptRunCommand(s, runScriptRun))
	return c
}

type scriptHelpOptions struct {
	scriptCaller
	skills *library.Library

	skill, script string
	json          bool
}

func newScriptHelpCommand(s *app.Services, run func(context.Context, *scriptHelpOptions) error) *cobra.Command {
	o := &scriptHelpOptions{scriptCaller: newScriptCaller(s), skills: s.Skills}
	c := &cobra.Command{
		Use:   "help SKILL SCRIPT",
		Short: "Show how a script is used",
		Long: `Run a script with --help and print the output. The skill must be trusted, and the same limits apply as in any run.

A script whose text does not show that it knows --help is not run, and its skill need not be trusted: what its author says
about it is printed, and the lines of SKILL.md that call it.`,
		Example:           `  agent script help kalshi-markets markets`,
		Args:              arguments(2, 2, "the name of a skill and of a script"),
		ValidArgsFunction: completeScripts(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.skill, o.script = args[0], args[1]
			return run(c.Context(), o)
		},
	}
	c.Flags().DurationVar(&s.Flags.Timeout, "timeout", 0, "end the script after this `TIME`")
	c.Flags().BoolVar(&o.json, "json", false, "print the whole result as JSON")
	return c
}

func runScriptHelp(ctx context.Context, o *scriptHelpOptions) error {
	cat, err := o.skills.OpenFor(ctx, o.skill)
	if err != nil {
		return err
	}
	var help *skilltool.Help
	r, err := o.call(ctx, cat, o.skill, o.script, func(kit *skilltool.Kit) (tool.Result, error) {
		if help, err = kit.HelpScript(ctx, o.skill, o.script); err != nil {
			return tool.Result{}, err
		}
		return help.Envelope(), nil
	})
	return (&answer{o.out, o.settings, o.json}).scripted(r, err, func() string { return scriptHint(ctx, o.settings, cat, o.skill, err) },
		func() error { return printHelp(o.out, help) })
}

// printHelp prints the output of --help, or the description of a script without one.
func printHelp(out *output.Printer, help *skilltool.Help) error {
	if !help.Described {
		return out.Foreign(help.HelpText)
	}
	out.Remark(help.Message())
	var parts []string
	if help.HelpText != "" {
		parts = append(parts, help.HelpText+"\n")
	}
	if help.Usage != "" {
		parts = append(parts, "Usage in SKILL.md:\n  "+strings.ReplaceAll(help.Usage, "\n", "\n  ")+"\n")
	}
	return out.Foreign(strings.Join(parts, "\n"))
}

// scriptCaller calls a script.
type scriptCaller struct {
	out      *output.Printer
	settings *setup.Settings
	consent  *consent.Consent
	tools    *toolkit.Toolkit
	sandbox  *sandbox.Sandbox
}

func newScriptCaller(s *app.Services) scriptCaller {
	return scriptCaller{out: s.Out, settings: s.Settings, consent: s.Consent, tools: s.Tools, sandbox: s.Sandbox}
}

// call calls a script through a kit, and shows progress if that takes more than a second. At a terminal it asks about
// content that is not approved. The error is that of the kit, or the reason why nothing can be called.
func (s *scriptCaller) call(ctx context.Context, cat *skill.Catalog, skillName, scriptName string, call func(*skilltool.Kit) (tool.Result, error)) (r tool.Result, err error) {
	if err := s.settings.NeedRoom(setup.CacheFolder); err != nil {
		return r, err
	}
	kit, err := s.tools.Kit(cat, s.consent.Asker())
	if err != nil {
		return r, err
	}
	begun := time.Now()
	err = s.out.Busy(fmt.Sprintf("running %s of %s", scriptName, skillName), func() (err error) {
		r, err = call(kit)
		return err
	})
	if err != nil {
		r = kit.Failure(ctx, err, skillName)
	}
	r.Duration = time.Since(begun)
	return r, err
}

// answer prints the result of a tool.
type answer struct {
	out      *output.Printer
	settings *setup.Settings
	json     bool
}

// print prints the result's envelope with --json. Otherwise it calls success, or returns the failure with a hint.
func (a *answer) print(r tool.Result, hint func() string, success func() error) error {
	exit := failure.ScriptExit(r)
	if a.json {
		r.ErrorText = a.settings.Config().ErrorText && !r.Success
		whole, err := r.MarshalJSON()
		if err != nil {
			return err
		}
		if err := a.out.JSONText(whole); err != nil || r.Success {
			return err
		}
		return failure.Silent(exit)
	}
	if r.Success {
		return success()
	}
	return &failure.Error{Exit: exit, Code: string(r.Error), Hint: hint(), Err: errors.New(r.Message)}
}

// scripted prints the result of a call of a script, or of what toolsets are asked for. With an error r is the result that a model gets of it; a person is
// given the error itself and the hint.
func (a *answer) scripted(r tool.Result, err error, hint func() string, success func() error) error {
	var own *failure.Error
	ofToolset := len(toolset.Errors(err)) > 0
	switch {
	case err == nil:
		return a.print(r, hint, success)
	case errors.As(err, &own), !ofToolset && !errors.As(err, new(*script.Error)):
		return err
	}
	if !a.json {
		r = skilltool.Failure(err)
	}
	if !a.json && ofToolset { // the cause alone does not name the skill
		r.Message = err.Error()
	}
	return a.print(r, hint, success)
}

// scriptHint returns what a person can do about a failed call: the nearest name, or where to look.
func scriptHint(ctx context.Context, settings *setup.Settings, cat *skill.Catalog, skillName string, failed error) string {
	var untrusted *skilltool.UntrustedError
	var ofScript *script.Error
	e, err := library.Find(cat, skillName)
	switch hint := settings.Cures().Of(failed, skillName).Hint(); {
	case err == nil && errors.As(failed, &untrusted) && untrusted.Err == nil:
		return trustHint(ctx, e)
	case hint != "":
		return hint
	case cure.RefusesJSON(failed):
		return "--text runs the script without --json"
	case failure.IsFull(failed):
		return failure.MakeRoom
	case !errors.As(failed, &ofScript):
		return ""
	case ofScript.Code == script.ParseError:
		return "--text prints the script's output unchanged"
	case ofScript.Code != script.NotFound && ofScript.Code != script.InvalidName:
		return ""
	}
	var missing *skill.NotFoundError
	var leftOut *failure.Error
	switch {
	case errors.As(err, &leftOut):
		return leftOut.Hint
	case errors.As(err, &missing) && len(missing.Suggest) > 0:
		return fmt.Sprintf("did you mean %q?", missing.Suggest[0])
	case err != nil:
		return "agent skill list shows the skills"
	case e.State() != skill.StateEnabled:
		return fmt.Sprintf("%s is %s: %s", e.Name(), e.State(), cure.Enable(e))
	}
	if ofScript.Suggest != "" {
		return fmt.Sprintf("did you mean %q?", ofScript.Suggest)
	}
	return fmt.Sprintf("agent script list %s shows its scripts", e.Canonical())
}

// trustHint returns what a person can do about a skill whose scripts may not run.
func trustHint(ctx context.Context, e skill.Entry) string {
	t, err := e.Trust(ctx)
	if err != nil || t.Runs() {
		return ""
	}
	at := location(ctx, e)
	if t == skill.TrustChanged && e.Installed() != "" {
		return replacedHint(e.Canonical())
	} else if t == skill.TrustChanged && at != "" {
		return fmt.Sprintf("%s approves its present content; while you write it, %s also trusts all later changes",
			cure.Trust(e.Canonical()), cure.TrustRoot(filepath.Dir(filepath.Dir(at))))
	}
	return cure.Trust(e.Canonical())
}

// replacedHint returns what a person can do about an installed skill whose files changed.
func replacedHint(name string) string {
	return fmt.Sprintf("agent skill verify %s names the files that changed, %s puts them back; %s approves them as they are", name, cure.Repair(name), cure.Trust(name))
}

// scriptName is a script of a skill.
type scriptName struct {
	Name string `json:"name"`
	Path string `json:"path"` // below the skill
}

// scriptNames returns the scripts that a skill offers and what is wrong with its scripts.
func scriptNames(s *skill.Skill, o *survey.Options) ([]scriptName, []manifest.Problem) {
	scripts, problems := script.List(s, o)
	out := make([]scriptName, len(scripts))
	for i, sc := range scripts {
		out[i] = scriptName{sc.Name, sc.File}
	}
	return out, problems
}
