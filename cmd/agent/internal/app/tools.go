package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// ScriptArgs are the arguments of the tools script_list, script_help and script_run.
type ScriptArgs struct {
	Skill  string   `json:"skill_name"`
	Script string   `json:"script_name"`
	Args   []string `json:"args,omitempty"`
	JSON   *bool    `json:"json,omitempty"`
}

// Toolkit makes the engine's own tools and calls them as a model would.
type Toolkit struct {
	sys      *System
	settings *Settings
	out      *Printer
}

// Call calls one of the engine's own tools as a model would, through the one executor.
func (k *Toolkit) Call(ctx context.Context, cat *skill.Catalog, name string, args any) (tool.Result, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Result{}, err
	}
	var set tool.Set
	for _, t := range skilltool.New(k.Options(cat)).Tools() {
		if err := set.Add(t); err != nil {
			return tool.Result{}, err
		}
	}
	if _, ok := set.Lookup(name); !ok {
		return k.withoutSkills(ctx, name, raw), nil
	}
	e := &tool.Executor{Tools: &set, Trace: k.out.Tracer()}
	r := e.Call(ctx, name, raw)
	return r, ctx.Err()
}

// withoutSkills is what a tool would answer when no skill is active: then there are no tools. It is logged like a
// tool's answer.
func (k *Toolkit) withoutSkills(ctx context.Context, name string, raw json.RawMessage) tool.Result {
	var args ScriptArgs
	_ = json.Unmarshal(raw, &args) // made by call
	r := nothingThere(name, args.Skill)
	if name == "script_help" || name == "script_run" {
		trace.Emit(ctx, k.out.Tracer(), trace.Event{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: args.Skill, Script: args.Script,
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

// Options returns how the tools work here, over one catalogue.
func (k *Toolkit) Options(cat *skill.Catalog) *skilltool.Options {
	cfg := k.settings.Config()
	return &skilltool.Options{
		Catalog:      func() *skill.Catalog { return cat },
		Session:      session.New(&session.Options{Trace: k.out.Tracer()}),
		Scripts:      k.Host(),
		Instructions: disclose.InstructionOptions{ProjectDir: cfg.Paths.Project},
		ReadScripts:  cfg.ScriptRead == "allow",
		StrictStack:  cfg.StrictStack,
		ErrorText:    cfg.ErrorText,
		Trace:        k.out.Tracer(),
	}
}

// Host returns what runs scripts. It needs a home for that, see Settings.NeedHome.
func (k *Toolkit) Host() *script.Host {
	cfg := k.settings.Config()
	return &script.Host{
		LookPath: k.lookPath(cfg), Env: k.sys.Environ, Cache: cfg.Paths.Cache, Workspace: cfg.Paths.Project,
		Cwd: cfg.Cwd, Timeout: cfg.ScriptTimeout, MaxOutput: cfg.MaxScriptOutput, Trace: k.out.Tracer(), Progress: k.out.Progress,
	}
}

// lookPath finds programs as the settings say: python and uv may be set to a path of the user's.
func (k *Toolkit) lookPath(cfg *config.Config) func(string) (string, error) {
	return func(name string) (string, error) {
		switch {
		case name == "uv" && cfg.UV != "":
			return cfg.UV, nil
		case name == "python3" && cfg.Python != "":
			return cfg.Python, nil
		}
		return k.sys.LookPath(name)
	}
}
