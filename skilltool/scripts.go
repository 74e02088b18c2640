package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// ScriptItem is one script in the result of script_list (R99).
type ScriptItem struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute where the skill is on disk
}

// Help is the result of script_help (R100).
type Help struct {
	HelpText string `json:"help_text"`
	Usage    string `json:"usage"`
}

var (
	listSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `}}`)
	helpSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` + scriptParam + `},` +
		`"required":["skill_name","script_name"]}`)
	runSchema = json.RawMessage(`{"type":"object","properties":{` + skillParam + `,` + scriptParam + `,` +
		`"args":{"type":"array","items":{"type":"string"},"description":"Arguments as the help shows them, such as ['--limit', '5']"},` +
		`"json":{"type":"boolean","description":"true (default): add --json and return parsed JSON; false: return plain text"}},` +
		`"required":["skill_name","script_name"]}`)
)

const (
	skillParam  = `"skill_name":{"type":"string","description":"Name of the skill, such as 'kalshi-markets'"}`
	scriptParam = `"script_name":{"type":"string","description":"Name of the script, such as 'status' or 'status.py'"}`

	listDescription = "List the scripts of one skill, or of all skills when skill_name is left out."
	helpDescription = "Show how a script is used: runs it with --help and returns its text. " +
		"Call this before script_run to learn which arguments there are."
	runDescription = "Run a script of a skill and return its result. Most scripts take --json, which is added unless json is false. " +
		"Look at script_help first; never read a script's source."
)

func (k *Kit) listTool() tool.Tool {
	return tool.Tool{Name: "script_list", Description: listDescription, Input: listSchema, Call: k.wrap(k.scriptList)}
}

func (k *Kit) helpTool() tool.Tool {
	return tool.Tool{Name: "script_help", Description: helpDescription, Input: helpSchema, Call: k.scriptCall(k.scriptHelp)}
}

func (k *Kit) runTool() tool.Tool {
	return tool.Tool{Name: "script_run", Description: runDescription, Input: runSchema, Call: k.scriptCall(k.scriptRun)}
}

func (k *Kit) scriptList(ctx context.Context, a *arguments) tool.Result {
	out := map[string][]ScriptItem{}
	total := 0
	add := func(s *skill.Skill) {
		if items := scriptItems(ctx, s); len(items) > 0 {
			out[s.Canonical()] = items
			total += len(items)
		}
	}
	if a.SkillName != "" {
		s, err := k.load(ctx, a.SkillName)
		if err != nil {
			return missing(err, fmt.Sprintf("Skill '%s' not found", a.SkillName))
		}
		defer s.Close()
		out[s.Canonical()] = []ScriptItem{}
		add(s)
		return tool.Success(out, found(total, 1))
	}
	for e := range k.o.Catalog().Visible() {
		s, err := e.Load(ctx)
		if err != nil {
			continue // broken since it was listed: it has no scripts to offer now
		}
		add(s)
		s.Close()
	}
	if err := ctx.Err(); err != nil { // or the list would lack those that were not loaded for it
		return tool.Failure(tool.Timeout, fmt.Sprintf("Scripts cannot be listed: %v", err))
	}
	return tool.Success(out, found(total, len(out)))
}

func found(scripts, skills int) string {
	return fmt.Sprintf("Found %s across %s", plural(scripts, "script"), plural(skills, "skill"))
}

func scriptItems(ctx context.Context, s *skill.Skill) []ScriptItem {
	scripts, _ := script.List(s) // what is wrong with a script is shown by info and validate
	dir, err := s.Dir(ctx)
	out := make([]ScriptItem, len(scripts))
	for i, sc := range scripts {
		out[i] = ScriptItem{Name: sc.Name, Path: sc.File}
		if err == nil {
			out[i].Path = filepath.Join(dir, filepath.FromSlash(sc.File))
		}
	}
	return out
}

// scriptFiles returns the paths of the files that script_run takes, never nil.
func scriptFiles(s *skill.Skill) []string {
	scripts, _ := script.List(s)
	out := make([]string, len(scripts))
	for i, sc := range scripts {
		out[i] = sc.File
	}
	return out
}

// scriptCall is wrap for the tools that run scripts, of which every failure is logged.
func (k *Kit) scriptCall(call func(context.Context, *arguments) tool.Result) func(context.Context, json.RawMessage) tool.Result {
	return func(ctx context.Context, raw json.RawMessage) tool.Result {
		if err := ctx.Err(); err != nil {
			return k.finish(k.unstarted(ctx, &arguments{}, tooLate(err)))
		}
		a, err := parse(raw)
		if err != nil {
			return k.finish(k.unstarted(ctx, &arguments{}, misuse(err.Error())))
		}
		return k.finish(call(ctx, a))
	}
}

// unstarted logs a failure of a call whose script the host never got: it logs what it gets (R166). The names are those
// that were asked for. It returns r.
func (k *Kit) unstarted(ctx context.Context, a *arguments, r tool.Result) tool.Result {
	name := a.SkillName
	if manifest.CheckName(name) == nil {
		name = manifest.Canonical(name)
	}
	ev := trace.Event{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: fmt.Sprintf("%.100s", name), Script: fmt.Sprintf("%.100s", a.ScriptName),
		Message: "Script failed", Err: fmt.Errorf("%.1000s", r.Message), Attrs: []slog.Attr{slog.String("code", string(r.Error))}}
	if ev.Script != "" {
		ev.Message = "Script " + ev.Script + " failed"
	}
	trace.Emit(ctx, k.o.Trace, ev)
	return r
}

func (k *Kit) scriptHelp(ctx context.Context, a *arguments) tool.Result {
	done, err := k.o.Scripts.Use(ctx)
	if err != nil {
		return k.unstarted(ctx, a, scriptFailure(err))
	}
	defer done()
	s, sc, failure := k.script(ctx, a)
	if failure != nil {
		return k.unstarted(ctx, a, *failure)
	}
	defer s.Close()
	help, err := k.o.Scripts.Help(ctx, s, sc)
	if err != nil {
		return scriptFailure(err)
	}
	return tool.Success(Help{HelpText: help.Text, Usage: help.Usage}, fmt.Sprintf("Retrieved help for %s", sc.Name))
}

func (k *Kit) scriptRun(ctx context.Context, a *arguments) tool.Result {
	args, err := a.list()
	if err != nil {
		return k.unstarted(ctx, a, misuse(err.Error()))
	}
	if err := script.CheckArgs(args); err != nil {
		return k.unstarted(ctx, a, scriptFailure(err))
	}
	done, err := k.o.Scripts.Use(ctx)
	if err != nil {
		return k.unstarted(ctx, a, scriptFailure(err))
	}
	defer done()
	s, sc, failure := k.script(ctx, a)
	if failure != nil {
		return k.unstarted(ctx, a, *failure)
	}
	defer s.Close()
	res, err := k.o.Scripts.Run(ctx, s, sc, &script.RunOptions{Args: args, Text: !a.wantJSON()})
	if err != nil {
		return scriptFailure(err)
	}
	msg := fmt.Sprintf("Executed %s script", sc.Name)
	if res.Warning != "" {
		msg += " (" + res.Warning + ")"
	}
	if a.wantJSON() {
		return tool.Success(res.JSON, msg)
	}
	return tool.Success(res.Text, msg)
}

// script opens the skill, finds the script and makes sure that its content may run. The caller
// closes the skill unless there is a failure.
func (k *Kit) script(ctx context.Context, a *arguments) (*skill.Skill, script.Script, *tool.Result) {
	fail := func(r tool.Result) (*skill.Skill, script.Script, *tool.Result) { return nil, script.Script{}, &r }
	if a.SkillName == "" {
		return fail(tool.Failure(tool.InvalidName, "skill_name is required"))
	}
	if a.ScriptName == "" {
		return fail(tool.Failure(tool.InvalidName, "script_name is required"))
	}
	s, err := k.load(ctx, a.SkillName)
	if err != nil {
		return fail(missing(err, fmt.Sprintf("Skill '%s' not loaded or installed", a.SkillName)))
	}
	sc, err := script.Find(s, a.ScriptName)
	if err != nil {
		s.Close()
		return fail(scriptFailure(err))
	}
	ready, denied := k.release(ctx, s)
	if denied != nil {
		s.Close()
		return fail(*denied)
	}
	if ready == s {
		return s, sc, nil
	}
	s.Close()
	if sc, err = script.Find(ready, a.ScriptName); err != nil {
		ready.Close()
		return fail(scriptFailure(err))
	}
	return ready, sc, nil
}

// release is the gate of scripts (C57). It returns the skill whose content may run: s itself where a place is trusted,
// a sealed copy where a content is.
func (k *Kit) release(ctx context.Context, s *skill.Skill) (*skill.Skill, *tool.Result) {
	trust, err := s.Trust(ctx)
	switch {
	case err != nil:
	case trust == skill.TrustApproved:
		return k.seal(ctx, s)
	case trust.Runs():
		return s, nil
	case k.o.Approve != nil:
		if _, err = s.Digest(ctx); err != nil { // computed before anybody is asked: it is what the answer is about
			break
		}
		var ok bool
		if ok, err = k.o.Approve(ctx, s); ok && err == nil {
			return k.seal(ctx, s)
		}
	}
	return nil, refusal(s, trust, err)
}

// seal returns a copy of s that nobody else changes, if s is still what was approved.
func (k *Kit) seal(ctx context.Context, s *skill.Skill) (*skill.Skill, *tool.Result) {
	approved, err := s.Digest(ctx)
	if err != nil {
		return nil, refusal(s, skill.TrustNone, err)
	}
	sealed, err := s.Seal(ctx, filepath.Join(k.o.Scripts.Cache, script.Sealed))
	if err != nil {
		r := tool.Failure(failureCode(err), fmt.Sprintf("Skill '%s' cannot be copied to where its scripts run: %v", s.Name(), err))
		return nil, &r
	}
	if now, err := sealed.Digest(ctx); err != nil || now != approved {
		sealed.Close()
		return nil, refusal(s, skill.TrustChanged, err)
	}
	return sealed, nil
}

// refusal says that the content of s may not run, and what a person can do.
func refusal(s *skill.Skill, trust skill.Trust, err error) *tool.Result {
	why := "is not trusted"
	if trust == skill.TrustChanged {
		why = "has changed since it was trusted"
	}
	r := tool.Failure(tool.PermissionDenied, fmt.Sprintf(
		"Skill '%s' %s: its scripts are not run. A person can allow it with: agent skill trust %s", s.Name(), why, s.Canonical()))
	if err != nil {
		r.Message = fmt.Sprintf("Trust of skill '%s' cannot be decided, so its scripts are not run: %v", s.Name(), err)
	}
	r.Reason = "untrusted"
	if ended(err) {
		r.Error, r.Reason = tool.Timeout, ""
	}
	return &r
}

// missing maps an error of finding a skill; text is the row's own for one that is not there.
func missing(err error, text string) tool.Result {
	var bad *manifest.NameError
	var none *skill.NotFoundError
	switch {
	case errors.As(err, &bad):
		return tool.Failure(tool.InvalidName, bad.Error())
	case errors.As(err, &none):
		return tool.Failure(tool.NotFound, text)
	}
	return tool.Failure(failureCode(err), fmt.Sprintf("Failed to load skill: %v", err))
}

// scriptFailure maps a *script.Error, whose codes are those of package tool, to a result.
func scriptFailure(err error) tool.Result {
	var e *script.Error
	if !errors.As(err, &e) {
		return tool.Failure(failureCode(err), err.Error())
	}
	r := tool.Failure(tool.Code(e.Code), e.Message)
	r.Reason, r.Result = e.Reason, e.Said()
	return r
}
