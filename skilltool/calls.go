package skilltool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// Help is the result of script_help.
type Help struct {
	HelpText string `json:"help_text"`
	Usage    string `json:"usage"`

	Script    string `json:"-"` // its own name
	Described bool   `json:"-"` // the script was not run: the text is its description, see script.HelpText
}

// Envelope returns the result of the tool script_help.
func (h *Help) Envelope() tool.Result { return tool.Success(*h, h.Message()) }

// Message says what the help is.
func (h *Help) Message() string {
	switch {
	case !h.Described:
		return "Retrieved help for " + h.Script
	case h.HelpText == "" && h.Usage == "":
		return h.Script + " has no --help and no description"
	}
	return h.Script + " has no --help: this is its description"
}

// HelpScript runs a script with --help, or returns its output of a short time ago. A script that does not show that it knows
// --help is not run and needs no approval: its help is its description. HelpScript returns the errors of RunScript.
func (k *Kit) HelpScript(ctx context.Context, skillName, scriptName string) (*Help, error) {
	s, sc, err := k.script(ctx, skillName, scriptName)
	if err != nil {
		return nil, k.unstarted(ctx, skillName, scriptName, err)
	}
	defer s.Close()
	if err := k.forbidsRun(ctx, "script_help", skillName, scriptName, nil); err != nil {
		return nil, k.unstarted(ctx, skillName, scriptName, err)
	}
	help, err := k.o.Scripts.Help(ctx, s, sc, &script.HelpOptions{Admit: k.Admit})
	if err != nil {
		return nil, err
	}
	return &Help{HelpText: help.Text, Usage: help.Usage, Script: sc.Name, Described: help.Described}, nil
}

// RunRequest is a call of a script.
type RunRequest struct {
	Skill, Script string
	Args          []string
	JSON          script.JSONMode // "" means the host's
	Stdin         io.Reader       // standard input of the script, see script.RunOptions; nil for an empty one
}

// RunResult is the answer of a script: either JSON or text.
type RunResult struct {
	Script   string          // its own name
	JSON     json.RawMessage // one compact document; nil for text
	Text     string
	Warning  string // that Text was truncated, or that a grant has lapsed
	Duration time.Duration
	Sandbox  runner.Sandbox // what confined the script
}

// Envelope returns the result of the tool script_run.
func (r *RunResult) Envelope() tool.Result {
	msg := fmt.Sprintf("Executed %s script", r.Script)
	if r.Warning != "" {
		msg += " (" + r.Warning + ")"
	}
	out := tool.Success(r.Text, msg)
	if r.JSON != nil {
		out.Result = r.JSON
	}
	out.Metadata = map[string]any{tool.MetadataSandbox: &r.Sandbox}
	return out
}

// Confined returns what confined the script that a call of a tool ran, nil if none ran.
func Confined(r *tool.Result) *runner.Sandbox {
	s, _ := r.Metadata[tool.MetadataSandbox].(*runner.Sandbox)
	return s
}

// RunScript runs a script of a skill that a model may use, if the skill's content may run: the tool script_run is this
// call. The error is a *script.Error, or ctx's when ctx is done. The former wraps a *skill.NotFoundError or
// *manifest.NameError when there is no such skill, and an *UntrustedError, with the reason ReasonUntrusted, when its content
// may not run.
func (k *Kit) RunScript(ctx context.Context, r *RunRequest) (*RunResult, error) {
	s, sc, err := k.script(ctx, r.Skill, r.Script)
	if err != nil {
		return nil, k.unstarted(ctx, r.Skill, r.Script, err)
	}
	defer s.Close()
	if err := k.forbidsRun(ctx, "script_run", r.Skill, r.Script, r.Args); err != nil {
		return nil, k.unstarted(ctx, r.Skill, r.Script, err)
	}
	res, err := k.o.Scripts.Run(ctx, s, sc, &script.RunOptions{Args: r.Args, JSON: r.JSON, Admit: k.Admit, Denied: k.DeniedFiles(), Stdin: r.Stdin,
		Out: tool.Output(ctx), Err: tool.Output(ctx)})
	if err != nil {
		return nil, err
	}
	if len(res.Wants) > 0 {
		missed := &script.Error{Wants: res.Wants}
		tool.NotifyLacked(ctx, missed, k.advice(r.Skill))
		if text := k.advice(r.Skill)(missed); text != "" {
			res.Warning += ". " + text
		}
	}
	return &RunResult{Script: sc.Name, JSON: res.JSON, Text: res.Text, Warning: res.Warning, Duration: res.Duration, Sandbox: res.Sandbox}, nil
}

// DeniedFiles returns the rules about files in disallowed-tools of the skills that restrict now. The program gives them to whatever
// runs commands for the model; RunScript uses them itself. It returns none if restrictions are not enforced.
func (k *Kit) DeniedFiles() runner.Denied {
	if !k.o.Session.Enforced() {
		return runner.Denied{}
	}
	read, change := k.o.Session.Restriction().DeniedFiles()
	return runner.Denied{Read: read, Write: change}
}

// script opens the skill and finds the script. The caller closes the skill.
func (k *Kit) script(ctx context.Context, skillName, scriptName string) (*skill.Skill, script.Script, error) {
	fail := func(err error) (*skill.Skill, script.Script, error) { return nil, script.Script{}, err }
	switch {
	case ctx.Err() != nil:
		return fail(ctx.Err())
	case k.o.Scripts == nil:
		return fail(&script.Error{Code: script.ExecutionFailed, Message: "Scripts are not run here"})
	case skillName == "":
		return fail(&script.Error{Code: script.InvalidName, Message: "skill_name is required"})
	case scriptName == "":
		return fail(&script.Error{Code: script.InvalidName, Message: "script_name is required"})
	}
	s, err := k.loadNamed(ctx, skillName, notLoaded)
	if err != nil {
		return fail(err)
	}
	sc, err := script.Script{}, k.held(ctx, s)
	if err == nil {
		sc, err = script.Find(ctx, s, scriptName, k.survey())
	}
	if err != nil {
		s.Close()
		return fail(err)
	}
	return s, sc, nil
}

// The texts for a skill that a call names and that is not there.
const (
	notLoaded = "Skill '%s' not loaded or installed" // of calls that run something
	notFound  = "Skill '%s' not found"               // of lists
)

// loadNamed is load with a *script.Error, whose text for a skill that is not there is absent.
func (k *Kit) loadNamed(ctx context.Context, name, absent string) (*skill.Skill, error) {
	s, err := k.load(ctx, name)
	if err == nil {
		return s, nil
	}
	e := &script.Error{Code: script.ExecutionFailed, Err: err, Message: fmt.Sprintf("Failed to load skill: %v", err)}
	bad, misnamed := errors.AsType[*manifest.NameError](err)
	switch {
	case misnamed:
		e.Code, e.Message = script.InvalidName, bad.Error()+didYouMean(".", bad.Suggest)
	case isA[*unavailableError](err):
		e.Code, e.Message = script.NotFound, err.Error()
	case isA[*skill.NotFoundError](err):
		e.Code, e.Message = script.NotFound, fmt.Sprintf(absent, name)
	case ended(err):
		e.Code = script.Timeout
	}
	return nil, e
}

// ReasonUntrusted is the reason of a failure because a skill's content may not run.
const ReasonUntrusted = "untrusted"

// UntrustedError says that the content of a skill may not run.
type UntrustedError struct {
	Skill string      // its name
	Trust skill.Trust // TrustNone, or TrustChanged if another content was approved
	Err   error       // why trust cannot be decided, or nil
}

// Error returns the text for a model.
func (e *UntrustedError) Error() string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("Trust of skill '%s' cannot be decided, so its scripts are not run: %v", e.Skill, e.Err)
	case e.Trust == skill.TrustChanged:
		return fmt.Sprintf("Skill '%s' has changed since it was trusted: its scripts are not run.", e.Skill)
	}
	return fmt.Sprintf("Skill '%s' is not trusted: its scripts are not run.", e.Skill)
}

// Unwrap returns the cause.
func (e *UntrustedError) Unwrap() error { return e.Err }

// Admit decides whether the content of a skill may run, and returns the skill to run: s itself if its place is trusted, a sealed
// copy if its content is approved, or was granted something. It asks Policy.Approve about content that is not approved. The
// tools that run something of a skill call it; so does a program that runs something of a skill itself, as its script.Admit. The
// error is a *script.Error, which wraps an *UntrustedError.
func (k *Kit) Admit(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	trust, err := s.Trust(ctx)
	switch {
	case err != nil:
	case trust == skill.TrustApproved:
		return k.seal(ctx, s)
	case trust.Runs():
		return k.inPlace(ctx, s)
	case k.o.Policy.Approve != nil:
		var ok bool
		if ok, err = k.ask(ctx, s); ok && err == nil {
			return k.seal(ctx, s)
		}
	}
	return nil, refusal(s, trust, err)
}

// inPlace returns the skill to run for one whose place is trusted.
func (k *Kit) inPlace(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	if k.o.Policy.Seals == nil {
		return s, nil
	}
	if seals, err := k.o.Policy.Seals(ctx, s); err != nil || !seals {
		return s, err
	}
	return k.seal(ctx, s)
}

// ask asks whether the content of s may run, and traces the answer.
func (k *Kit) ask(ctx context.Context, s *skill.Skill) (bool, error) {
	id, err := s.ID(ctx) // computed first: the answer is for this content
	if err != nil {
		return false, err
	}
	begun := time.Now()
	ok, err := k.o.Policy.Approve(ctx, s)
	ev := trace.Event{Kind: trace.TrustAsked, Skill: s.Canonical(), Duration: time.Since(begun), Err: err, Message: "Approved skill '" + s.Canonical() + "'",
		Attrs: append(trace.ContentAttrs(id.Layer, id.Digest), slog.Bool("approved", ok && err == nil))}
	if !ok || err != nil {
		ev.Level, ev.Message = slog.LevelWarn, "Skill '"+s.Canonical()+"' was not approved"
	}
	trace.Emit(ctx, k.o.Trace, ev)
	return ok, err
}

// seal returns a copy of s that cannot be changed, if s still has the approved content.
func (k *Kit) seal(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	sealed, err := k.o.Scripts.Seal(ctx, s)
	var e *script.Error
	if errors.As(err, &e) && e.Reason == script.ReasonChanged {
		return nil, refusal(s, skill.TrustChanged, nil)
	}
	return sealed, err
}

// refusal returns the error for content that may not run. If err is there because ctx is done, it is a timeout.
func refusal(s *skill.Skill, trust skill.Trust, err error) error {
	why := &UntrustedError{Skill: s.Name(), Trust: trust, Err: err}
	e := &script.Error{Code: script.PermissionDenied, Reason: ReasonUntrusted, Message: why.Error(), Err: why}
	if ended(err) {
		e.Code, e.Reason = script.Timeout, ""
	}
	return e
}
