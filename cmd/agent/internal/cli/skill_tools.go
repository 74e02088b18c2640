package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
)

type skillToolsOptions struct {
	scriptCaller
	skills *library.Library

	skill, tool string // tool "" means all
	json        bool
}

func newSkillToolsCommand(s *app.Services, run func(context.Context, *skillToolsOptions) error) *cobra.Command {
	o := &skillToolsOptions{scriptCaller: newScriptCaller(s), skills: s.Skills}
	c := &cobra.Command{
		Use:   "tools NAME [TOOL]",
		Short: "List the tools of a skill's toolsets, or show one",
		Long: `Start the toolsets of a skill in the sandbox, and list their tools with what each costs a model in every request. With the
name of a tool, show its description and the schema of its arguments.

A skill that is not bundled must be trusted first: on a terminal you are asked, otherwise see "agent skill trust".
"agent skill info" lists the tools of an earlier run and starts nothing.`,
		Example: `  agent skill tools hello-extended
  agent skill tools hello-extended greet_in_language --json`,
		Args:              arguments(1, 2, "the name of a skill and perhaps of a tool"),
		ValidArgsFunction: completeTools(s),
		RunE: func(c *cobra.Command, args []string) error {
			if o.skill = args[0]; len(args) == 2 {
				o.tool = args[1]
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// toolJSON is a tool of a toolset in the output of commands.
type toolJSON struct {
	Name        string          `json:"name"`
	FullName    string          `json:"full_name"` // SKILL.CLASS.TOOL
	Toolset     string          `json:"toolset"`   // its class
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`  // JSON Schema of the arguments
	Tokens      int             `json:"tokens"` // estimated, in each request that offers the tool
}

func newToolJSON(t tool.Tool) toolJSON {
	_, class, _ := strings.Cut(t.Source, ".")
	return toolJSON{Name: t.Name, FullName: t.Source + "." + t.Name, Toolset: class, Description: t.Description, Input: t.Input, Tokens: worker.ToolTokens(t)}
}

// toolList has the tools of one skill.
type toolList struct {
	Skill    string     `json:"skill"`
	Tools    []toolJSON `json:"tools"`
	Tokens   int        `json:"tokens"`
	Failures []string   `json:"failures,omitempty"` // of toolsets that have no tools
}

func newToolList(name string, tools []tool.Tool) *toolList {
	l := &toolList{Skill: name, Tools: []toolJSON{}}
	for _, t := range tools {
		one := newToolJSON(t)
		l.Tools, l.Tokens = append(l.Tools, one), l.Tokens+one.Tokens
	}
	return l
}

func runSkillTools(ctx context.Context, o *skillToolsOptions) error {
	cat, err := o.skills.OpenFor(ctx, o.skill)
	if err != nil {
		return err
	}
	e, err := library.Find(cat, o.skill)
	if err != nil {
		return err
	}
	var tools []tool.Tool
	r, err := o.callToolset(ctx, cat, e.Canonical(), "starting the toolsets of "+e.Canonical(), func(kit *skilltool.Kit) (tool.Result, error) {
		tools, err = kit.ListTools(ctx, e.Canonical())
		return tool.Success(nil, ""), err
	})
	if err != nil && len(tools) == 0 {
		return (&answer{o.out, o.settings, o.json}).scripted(r, err, func() string { return toolsetHint(ctx, o.settings, cat, e.Canonical(), err) }, nil)
	}
	list := newToolList(e.Canonical(), tools)
	for _, one := range toolset.Errors(err) {
		list.Failures = append(list.Failures, one.Error())
	}
	if o.tool != "" {
		return o.show(list)
	}
	if err := o.print(list); err != nil || len(list.Failures) == 0 {
		return err
	}
	o.out.Hint(toolsetHint(ctx, o.settings, cat, e.Canonical(), err))
	return failure.Silent(failure.ExitFailure)
}

// print prints all tools, and why toolsets have none.
func (o *skillToolsOptions) print(list *toolList) error {
	if o.json {
		return o.out.JSON(list)
	}
	for _, text := range list.Failures {
		o.out.Warn(text)
	}
	if len(list.Tools) == 0 {
		o.out.Remark("no tools")
		return nil
	}
	var rows [][]string
	for _, t := range list.Tools {
		about, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		rows = append(rows, []string{t.Name, t.Toolset, strconv.Itoa(t.Tokens), about})
	}
	if err := o.out.Table([]string{"TOOL", "TOOLSET", "TOKENS", "ABOUT"}, rows); err != nil {
		return err
	}
	o.out.Remark(fmt.Sprintf("about %d tokens in each request while a model has them; agent skill tools %s TOOL shows the arguments of one", list.Tokens, list.Skill))
	return nil
}

// show prints one tool.
func (o *skillToolsOptions) show(list *toolList) error {
	for _, t := range list.Tools {
		if t.Name != o.tool && t.FullName != o.tool && t.Toolset+"."+t.Name != o.tool {
			continue
		}
		if o.json {
			return o.out.JSON(t)
		}
		o.out.Printf("%s\n  %s\n\n", t.FullName, o.out.Wrapped(t.Description, 2))
		return o.out.JSONText(t.Input)
	}
	return failure.NotFound(fmt.Errorf("skill %q has no tool %q", list.Skill, o.tool), "agent skill tools "+list.Skill+" lists them")
}

// callToolset calls what needs the toolsets of a skill, and ends them. It is call for a kit with toolsets.
func (s *scriptCaller) callToolset(ctx context.Context, cat *skill.Catalog, skillName, doing string, call func(*skilltool.Kit) (tool.Result, error)) (r tool.Result, err error) {
	if err := s.settings.NeedRoom(setup.CacheFolder); err != nil {
		return r, err
	}
	kit, end, err := s.tools.ToolKit(cat, s.consent.Asker())
	if err != nil {
		return r, err
	}
	defer end()
	err = s.out.Busy(doing, func() (err error) {
		r, err = call(kit)
		return err
	})
	if err != nil {
		r = kit.Failure(ctx, err, skillName)
	}
	return r, err
}

// toolsetHint says what to do about toolsets that cannot be used.
func toolsetHint(ctx context.Context, settings *setup.Settings, cat *skill.Catalog, name string, failed error) string {
	var untrusted *skilltool.UntrustedError
	if e, err := cat.Lookup(name); err == nil && errors.As(failed, &untrusted) && untrusted.Err == nil {
		return trustHint(ctx, e)
	}
	if hint := settings.Cures().Of(failed, name).Hint(); hint != "" {
		return hint
	}
	if e, ok := errors.AsType[*script.Error](failed); ok && e.Reason == script.ReasonInterpreter {
		return "" // the message says what to install
	}
	if errors.As(failed, new(*toolset.Error)) {
		return "correct the toolset; agent doctor says which programs can run toolsets"
	}
	if errors.As(failed, new(*script.Error)) {
		return "agent skill why " + name + " explains the skill"
	}
	return ""
}
