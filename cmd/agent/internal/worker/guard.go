package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// guard returns tools of skills that the policy decides about first.
func (g *gate) guard(tools []tool.Tool) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = g.guarded(t)
	}
	return out
}

// guarded returns a tool that the policy decides about first. One that stands for others returns such tools.
func (g *gate) guarded(t tool.Tool) tool.Tool {
	one, next := t, t.Call
	t.Call = func(ctx context.Context, args json.RawMessage) tool.Result {
		if why := g.refuse(ctx, &one, args); why != nil {
			return *why
		}
		return next(ctx, args)
	}
	if resolve := t.Resolve; resolve != nil {
		t.Resolve = func(ctx context.Context, args json.RawMessage) (tool.Tool, json.RawMessage, *tool.Result) {
			inner, args, ended := resolve(ctx, args)
			if ended == nil {
				inner = g.guarded(inner)
			}
			return inner, args, ended
		}
	}
	return t
}

// starts returns why the toolsets of a skill are not started for a model now, or nil. asked says that a call of toolset_list was
// decided about before.
func (g *gate) starts(ctx context.Context, skillName string, asked bool) error {
	args, err := json.Marshal(map[string]string{"skill_name": skillName})
	if err != nil {
		return err
	}
	d := g.decide(ctx, &permit.Call{Tool: "toolset_list", Kind: permit.Script, Args: args})
	if d.Verdict == permit.Allowed || d.Verdict == permit.Asked && asked {
		return nil
	}
	if d.Verdict == permit.Asked {
		return fmt.Errorf("the toolsets of skill '%s' are not started without a question, because %s: call toolset_list with skill_name '%s'", skillName, d.Reason, skillName)
	}
	return fmt.Errorf("the toolsets of skill '%s' are not started: %s", skillName, d.Reason)
}

// refuse returns the result of a call of a skill's tool that may not proceed, and nil for one that may.
func (g *gate) refuse(ctx context.Context, t *tool.Tool, args json.RawMessage) *tool.Result {
	name := t.FullName()
	c := &permit.Call{Tool: t.Name, Args: args}
	switch {
	case t.Full != "":
		c.Kind, c.Source, c.Tool = permit.Script, t.Source, strings.TrimPrefix(t.Full, t.Source+".")
	case name == "script_run":
		c.Kind = permit.Script
	}
	refused := g.refuseCall(ctx, name, c)
	if refused == nil && c.Kind == permit.Script && g.ran != nil {
		g.ran()
	}
	return refused
}

// refuseCall returns the result of a call that may not proceed, and nil for one that may.
func (g *gate) refuseCall(ctx context.Context, name string, c *permit.Call) *tool.Result {
	d := g.decide(ctx, c)
	g.emit(ctx, trace.Event{Kind: trace.CallDecided, Level: slog.LevelDebug, Tool: name, Message: string(d.Verdict) + ": " + d.Reason}, d)
	switch {
	case d.Verdict == permit.Allowed:
		return nil
	case d.Verdict == permit.Denied:
		return refusal("not_allowed", "Tool '%s' is not allowed: %s", name, d.Reason)
	case isTyped(ctx):
		return nil
	case g.approver == nil:
		return refusal(tool.ReasonNotApproved, "Tool '%s' needs the user's approval, because %s, and nobody can be asked here%s", name, d.Reason, cured(c, d))
	}
	return g.askAbout(ctx, name, c, d)
}

// cured says how a call of a server's tool is allowed, after "; ". Where a rule asks or cannot be read, none that allows helps.
func cured(c *permit.Call, d permit.Decision) string {
	if c.Kind != permit.Server || d.Rule.Text != "" || d.Doubt {
		return ""
	}
	return "; " + cure.Call(c)
}

// askAbout asks the user about a call of a tool of a skill or a server. A rule can allow what is asked about a server.
func (g *gate) askAbout(ctx context.Context, name string, c *permit.Call, d permit.Decision) *tool.Result {
	ask := func() (hosttool.Answer, error) {
		return g.askOnce(ctx, fmt.Sprintf("Let the model call %s? %s", name, sentence(d.Reason)), commandLines(string(c.Args)))
	}
	if c.Kind == permit.Server {
		ask = func() (hosttool.Answer, error) { return g.approve(ctx, &hosttool.Request{Call: c, Decision: d}) }
	}
	answer, err := ask()
	said, level := "allowed", slog.LevelInfo
	if !answer.Allowed || err != nil {
		said, level = "denied", slog.LevelWarn
	}
	if answer.For != "" {
		said += " for " + answer.For
	}
	g.emit(ctx, trace.Event{Kind: trace.ToolAsked, Level: level, Tool: name, Err: err, Message: "the user was asked about the call",
		Attrs: []slog.Attr{slog.String(trace.AttrAnswer, said)}}, d)
	if err != nil && ctx.Err() != nil {
		r := tool.Interruption(ctx, "The call")
		return &r
	}
	if why := answer.Refusal(name, err); why != "" {
		return refusal(tool.ReasonNotApproved, "%s", why)
	}
	return nil
}

// refusal returns the result of a call that is denied.
func refusal(reason, format string, args ...any) *tool.Result {
	return &tool.Result{Error: tool.PermissionDenied, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// emit traces an event with the rule that decided.
func (g *gate) emit(ctx context.Context, e trace.Event, d permit.Decision) {
	if d.Rule.Text != "" {
		e.Attrs = append(e.Attrs, slog.String(trace.AttrRule, d.Rule.String()))
	}
	trace.Emit(ctx, g.s.Observe.Tracer(), e)
}
