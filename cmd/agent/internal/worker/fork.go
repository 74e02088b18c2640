package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// role is a kind of sub-agent that a skill can name in the field agent.
type role struct {
	name  string
	tools []string // nil means all
	text  string
}

// roles are the kinds of sub-agents. An unknown name means the first.
var roles = []role{
	{name: "general-purpose", text: "You do one task for another agent. Work on your own: nobody answers questions. End with the result alone, complete and short."},
	{name: "explore", tools: readOnly, text: "You find something out for another agent and change nothing. End with what you found, with paths and line numbers, complete and short."},
	{name: "plan", tools: readOnly, text: "You plan a task for another agent and change nothing. End with the plan: the steps, the files that each of them touches, and what may go wrong."},
}

// readOnly are the tools that change nothing.
var readOnly = []string{"read_file", "glob", "grep", webFetch, "skill", "skill_read", "toolset_list", "script_list", "script_help"}

func roleNamed(name string) role {
	i := slices.IndexFunc(roles, func(r role) bool { return strings.EqualFold(r.name, name) })
	return roles[max(i, 0)]
}

// fork returns the options of the sub-agent that runs a skill with context: fork: its model, its kind and its own session.
func (w *worker) fork(ctx context.Context, f tool.Fork) (*agent.Options, error) {
	found, err := w.forkModel(ctx, f)
	if err != nil {
		return nil, err
	}
	r := roleNamed(f.Agent)
	if f.Agent != "" && !strings.EqualFold(r.name, f.Agent) {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("Skill '%s': unknown agent '%s', using %s", f.Skill, f.Agent, r.name))
	}
	var kit *skilltool.Kit
	own, err := w.ownTools(ctx, func() *skilltool.Kit { return kit }, nil)
	if err != nil {
		return nil, err
	}
	who := trace.Identity{Agent: r.name, Task: w.id + "-" + f.Skill, Model: found.String()}
	ctx = trace.WithIdentity(ctx, who)
	if kit, err = w.kit.Sub(ctx, f); err != nil {
		return nil, err
	}
	set := &tool.Set{}
	for t := range w.join(ctx, own, w.gate.guard(kit.Tools()), w.serverTools(ctx)).All() {
		if r.tools == nil || slices.Contains(r.tools, t.Name) {
			if err := set.Add(t); err != nil {
				return nil, err
			}
		}
	}
	o, err := w.options(found)
	if err != nil {
		return nil, err
	}
	o.Tools, o.System = w.executor(set, kit), disclose.Join(r.text, w.place(), w.context.Body())
	o.Turn = func(context.Context, string) string { return kit.Opening() }
	o.Fork, o.End, o.CacheKey = nil, kit.End, who.Task
	o.Identity = who
	o.Continue = func(ctx context.Context, before int) string { return w.continued(ctx, kit, before) }
	o.Carry = func(ctx context.Context) string { return kit.Carry(ctx).Body }
	if o.More = nil; r.tools == nil {
		o.More = w.more(kit, set)
	}
	return o, nil
}

// forkModel returns the model of a skill's sub-agent. A skill may choose among the models of the conversation's provider,
// and another model only if the user's settings name it or the user approved it.
func (w *worker) forkModel(ctx context.Context, f tool.Fork) (*models.Found, error) {
	found, ok, err := w.s.Models.Finder().For(ctx, f.Model, w.found)
	if errors.Is(err, models.ErrForeign) {
		if err := w.mayAsk(ctx, f); err != nil {
			return nil, err
		}
		found, err = w.s.Models.Finder().Find(ctx, f.Model)
		ok = true
	}
	if err != nil {
		return nil, fmt.Errorf("model %q of skill %q: %w", f.Model, f.Skill, err)
	}
	if !ok {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("Skill '%s': unknown model '%s', using %s", f.Skill, f.Model, found))
	}
	return found, nil
}

// mayAsk returns an error unless the user lets a skill use the model of another provider.
func (w *worker) mayAsk(ctx context.Context, f tool.Fork) error {
	if f.Model == w.s.Settings.Config().Agent.Model {
		return nil
	}
	e, err := w.catalog().Lookup(f.Skill)
	if err != nil {
		return err
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	consent := w.s.Consent
	if w.approver != nil {
		consent = consent.With(w.approver)
	}
	yes, err := consent.Model(ctx, s, f.Model)
	if err == nil && !yes {
		err = fmt.Errorf("skill %q may not use the model %q: the conversation uses %s, and the user did not approve another provider (%s)",
			e.Name(), f.Model, w.found, cure.Trust(e.Canonical()))
	}
	return err
}

func (w *worker) emit(ctx context.Context, level slog.Level, text string) {
	event(ctx, w.s.Observe.Tracer(), level, "", text)
}
