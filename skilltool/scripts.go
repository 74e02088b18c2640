package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

var (
	listSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `}}`)
	helpSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` + scriptParam + `},` +
		`"required":["skill_name","script_name"]}`)
	runSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` + scriptParam + `,` +
		`"args":{"type":"array","items":{"type":"string"},"description":"Arguments as the help shows them, such as ['--limit', '5']"},` +
		`"stdin":{"type":"string","description":"Text for the script's standard input, at most 1 MiB"},` +
		`"json":{"type":"boolean","description":"true: always add --json and return parsed JSON; false: return plain text"}},` +
		`"required":["skill_name","script_name"]}`)
)

const (
	skillParam  = `"skill_name":{"type":"string","description":"Name of the skill, such as 'kalshi-markets'"}`
	scriptParam = `"script_name":{"type":"string","description":"Name of the script, such as 'status' or 'status.py'"}`

	listDescription = "List the scripts of one skill, or of all skills when skill_name is left out."
	helpDescription = "Show how a script is used: the text of its --help, or its description. " +
		"Call this before script_run to learn which arguments there are."
	runDescription = "Run a script of a skill and return its result. A script that has a flag --json is given it. " +
		"Look at script_help first; never read a script's source."
)

func (k *Kit) listTool() tool.Tool {
	return tool.Tool{Name: "script_list", Description: listDescription, Input: listSchema, Call: k.wrap(k.listCall)}
}

func (k *Kit) helpTool() tool.Tool {
	return tool.Tool{Name: "script_help", Description: helpDescription, Input: helpSchema, Call: k.scriptCall(k.helpCall)}
}

func (k *Kit) runTool() tool.Tool {
	return tool.Tool{Name: "script_run", Description: runDescription, Input: runSchema, Call: k.scriptCall(k.runCall)}
}

func (k *Kit) helpCall(ctx context.Context, a *arguments) tool.Result {
	help, err := k.HelpScript(withCall(ctx, a.raw), a.SkillName, a.ScriptName)
	if err != nil {
		return k.Failure(ctx, err, a.SkillName)
	}
	return help.Envelope()
}

func (k *Kit) runCall(ctx context.Context, a *arguments) tool.Result {
	args, err := tool.Words(a.Args)
	if err != nil {
		return k.Failure(ctx, k.unstarted(ctx, a.SkillName, a.ScriptName, misused(err)), a.SkillName)
	}
	r := &RunRequest{Skill: a.SkillName, Script: a.ScriptName, Args: args, JSON: a.jsonMode()}
	if a.Stdin != nil {
		if err := script.CheckStdin(*a.Stdin); err != nil {
			return k.Failure(ctx, k.unstarted(ctx, a.SkillName, a.ScriptName, err), a.SkillName)
		}
		r.Stdin = strings.NewReader(*a.Stdin)
	}
	res, err := k.RunScript(withCall(ctx, a.raw), r)
	if err != nil {
		return k.Failure(ctx, err, a.SkillName)
	}
	return res.Envelope()
}

// scriptCall is wrap for the tools that run scripts: every failure of theirs is traced.
func (k *Kit) scriptCall(call func(context.Context, *arguments) tool.Result) func(context.Context, json.RawMessage) tool.Result {
	return func(ctx context.Context, raw json.RawMessage) tool.Result {
		if err := ctx.Err(); err != nil {
			r := tooLate(err)
			k.traceUnstarted(ctx, "", "", r.Error, r.Message)
			return r
		}
		a, err := parse(raw)
		if err != nil {
			return k.Failure(ctx, k.unstarted(ctx, "", "", misused(err)), "")
		}
		return call(ctx, a)
	}
}

func misused(err error) error {
	return &script.Error{Code: script.ExecutionFailed, Reason: tool.ReasonArguments, Message: err.Error()}
}

// Failure makes the result that a model gets of the error of a call of a skill's script, with what Policy.Advise adds. The watch of ctx
// is told what the call lacked.
func (k *Kit) Failure(ctx context.Context, err error, skillName string) tool.Result {
	tool.NotifyLacked(ctx, err, k.advice(skillName))
	r := Failure(err)
	if e, ok := errors.AsType[*script.Error](err); ok && e.Suggest != "" {
		r.Message += ". Did you mean '" + e.Suggest + "'?"
	}
	text := k.advice(skillName)(err)
	if strings.HasSuffix(r.Message, ".") && text != "" {
		r.Message += " " + text
	} else if text != "" {
		r.Message += "\n" + text
	}
	return r
}

// advice returns Policy.Advise for one skill.
func (k *Kit) advice(skillName string) func(error) string {
	return func(err error) string {
		if k.o.Policy.Advise == nil {
			return ""
		}
		return k.o.Policy.Advise(err, skillName)
	}
}

// Failure makes a result of the error of a typed call, such as RunScript, without any advice.
func Failure(err error) tool.Result {
	var e *script.Error
	if !errors.As(err, &e) {
		return failureCause(err).Failure(err.Error())
	}
	r := tool.Result{Error: tool.Code(e.Code), Reason: e.Reason, Message: err.Error(), Result: e.Said()}
	if e.Warning != "" {
		r.Message += "\n" + e.Warning
	}
	if e.Sandbox != nil {
		r.Metadata = map[string]any{tool.MetadataSandbox: e.Sandbox}
	}
	return r
}

// unstarted traces the failure of a call that did not come as far as the host, which traces its own, and returns it. The
// names are those that were asked for.
func (k *Kit) unstarted(ctx context.Context, skillName, scriptName string, err error) error {
	r := Failure(err)
	k.traceUnstarted(ctx, skillName, scriptName, r.Error, r.Message)
	return err
}

func (k *Kit) traceUnstarted(ctx context.Context, skillName, scriptName string, code tool.Code, message string) {
	if manifest.CheckName(skillName) == nil {
		skillName = manifest.Canonical(skillName)
	}
	ev := trace.Event{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: fmt.Sprintf("%.100s", skillName), Script: fmt.Sprintf("%.100s", scriptName),
		Message: "Script failed", Err: fmt.Errorf("%.1000s", message), Attrs: []slog.Attr{slog.String("code", string(code))}}
	if code != tool.PermissionDenied { // that comes after the names were found
		ev.Attrs = append(ev.Attrs, slog.Bool(trace.AttrUnknown, true))
	}
	if ev.Script != "" {
		ev.Message = "Script " + ev.Script + " failed"
	}
	trace.Emit(ctx, k.o.Trace, ev)
}
