package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// call calls one of the engine's own tools as a model would, through the one executor.
func (a *app) call(ctx context.Context, cat *skill.Catalog, name string, args any) (tool.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, err
	}
	var set tool.Set
	for _, t := range skilltool.New(a.toolOptions(cat)).Tools() {
		if err := set.Add(t); err != nil {
			return tool.Result{}, err
		}
	}
	if _, ok := set.Lookup(name); !ok {
		return a.withoutSkills(ctx, name, raw), nil
	}
	e := &tool.Executor{Tools: &set, Trace: a.tracer()}
	r := e.Call(ctx, name, raw)
	return r, ctx.Err()
}

// withoutSkills is what a tool would answer when no skill is active: then there are no tools (R161). It is logged like a
// tool's answer (R166).
func (a *app) withoutSkills(ctx context.Context, name string, raw json.RawMessage) tool.Result {
	var args runArgs
	_ = json.Unmarshal(raw, &args) // made by call
	r := nothingThere(name, args.Skill)
	if name == "script_help" || name == "script_run" {
		trace.Emit(ctx, a.tracer(), trace.Event{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: args.Skill, Script: args.Script,
			Message: "Script " + args.Script + " failed", Err: errors.New(r.Message), Attrs: []slog.Attr{slog.String("code", string(r.Error))}})
	}
	return r
}

func nothingThere(name, ofSkill string) tool.Result {
	if err := manifest.CheckName(ofSkill); ofSkill != "" && err != nil {
		return tool.Failure(tool.InvalidName, err.Error())
	}
	switch {
	case name == "script_list" && ofSkill == "":
		return tool.Success(map[string][]skilltool.ScriptItem{}, "Found 0 scripts across 0 skills")
	case name == "script_help", name == "script_run":
		return tool.Failure(tool.NotFound, fmt.Sprintf("Skill '%s' not loaded or installed", ofSkill))
	case name == "script_list":
		return tool.Failure(tool.NotFound, fmt.Sprintf("Skill '%s' not found", ofSkill))
	}
	return tool.Failure(tool.NotFound, fmt.Sprintf("Skill '%s' not found.", ofSkill))
}

func (a *app) toolOptions(cat *skill.Catalog) *skilltool.Options {
	cfg, _ := a.settings()
	return &skilltool.Options{
		Catalog:      func() *skill.Catalog { return cat },
		Session:      session.New(&session.Options{Trace: a.tracer()}),
		Scripts:      a.scripts(),
		Instructions: disclose.InstructionOptions{ProjectDir: cfg.Paths.Project},
		ReadScripts:  cfg.ScriptRead == "allow",
		StrictStack:  cfg.StrictStack,
		Trace:        a.tracer(),
	}
}

// answer prints a tool's result: its envelope with --json, else what print makes of a success, or the failure with a
// hint.
func (a *app) answer(r tool.Result, json bool, hint func() string, print func() error) error {
	exit := scriptExit(r)
	if json {
		if cfg, _ := a.settings(); cfg.ErrorText && !r.Success { // C49
			r.ErrorText = true
		}
		if err := a.printLine(r.Encode()); err != nil || r.Success {
			return err
		}
		return said(exit)
	}
	if r.Success {
		return print()
	}
	return &failure{exit: exit, code: string(r.Error), hint: hint(), err: errors.New(r.Message)}
}

// callScript calls a tool that runs a script, and says so when it takes more than a second. A person at the terminal
// is asked first about content that nobody approved.
func (a *app) callScript(ctx context.Context, cat *skill.Catalog, name string, args *runArgs) (tool.Result, error) {
	if err := a.needRoom(cacheFolder); err != nil {
		return tool.Result{}, err
	}
	if err := a.approveFirst(ctx, cat, args); err != nil {
		return tool.Result{}, err
	}
	var r tool.Result
	err := a.busy(fmt.Sprintf("running %s of %s", args.Script, args.Skill), func() (err error) {
		r, err = a.call(ctx, cat, name, args)
		return err
	})
	return r, err
}

// busy shows that work is under way, unless nobody wants to know. A host that is made meanwhile says what it prepares.
func (a *app) busy(label string, work func() error) error {
	if a.flags.quiet || a.flags.verbose {
		return work()
	}
	return a.ui.Busy(label, func(say func(string)) error {
		a.progress = say
		defer func() { a.progress = nil }()
		return work()
	})
}

// scriptHint is what a person can do about a failed call: the nearest name, or where to look.
func scriptHint(ctx context.Context, cat *skill.Catalog, args *runArgs, r tool.Result) string {
	if r.Error != tool.NotFound {
		return ""
	}
	e, err := cat.Lookup(args.Skill)
	var missing *skill.NotFoundError
	switch {
	case errors.As(err, &missing) && len(missing.Suggest) > 0:
		return fmt.Sprintf("did you mean %q?", missing.Suggest[0])
	case err != nil:
		return "agent skill list shows the skills"
	case e.State() != skill.StateEnabled:
		return fmt.Sprintf("%s is %s: %s", e.Name(), e.State(), cure(e))
	}
	s, err := e.Load(ctx)
	if err != nil {
		return ""
	}
	defer s.Close()
	var names []string
	for _, n := range scriptNames(s) {
		names = append(names, n.Name)
	}
	if meant := near.Name(args.Script, names); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return fmt.Sprintf("agent script list %s shows its scripts", e.Canonical())
}

// scripts returns the host that runs scripts. It needs a home for that, see needHome.
func (a *app) scripts() *script.Host {
	cfg, _ := a.settings()
	return &script.Host{
		LookPath: a.lookPath(cfg), Env: a.sys.Environ, Cache: cfg.Paths.Cache, Workspace: cfg.Paths.Project,
		Cwd: cfg.Cwd, Timeout: cfg.ScriptTimeout, MaxOutput: cfg.MaxScriptOutput, Trace: a.tracer(), Progress: a.progress,
	}
}

// lookPath finds programs as the settings say: python and uv may be set to a path of the user's.
func (a *app) lookPath(cfg *config.Config) func(string) (string, error) {
	return func(name string) (string, error) {
		switch {
		case name == "uv" && cfg.UV != "":
			return cfg.UV, nil
		case name == "python3" && cfg.Python != "":
			return cfg.Python, nil
		}
		return a.sys.LookPath(name)
	}
}
