package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// fork returns the options of a sub-agent, which runs a skill with context: fork or a task: its model, its kind and its own session.
func (w *worker) fork(ctx context.Context, f tool.Fork) (*agent.Options, error) {
	found, err := w.forkModel(ctx, f)
	if err != nil {
		return nil, err
	}
	r, ok := w.roleNamed(f.Agent)
	if !ok {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("Skill '%s': unknown agent '%s', using %s", f.Skill, f.Agent, r.name))
	}
	var kit *skilltool.Kit
	own, err := w.ownTools(ctx, func() *skilltool.Kit { return kit }, nil)
	if err != nil {
		return nil, err
	}
	who := trace.Identity{Agent: r.name, Task: fmt.Sprintf("%s-%s", w.id, cmp.Or(f.Skill, r.name)), Model: found.String()}
	ctx = trace.WithIdentity(ctx, who)
	if kit, err = w.kit.Sub(ctx, f); err != nil {
		return nil, err
	}
	rules := w.rules(ctx, nil)
	has, may := r.only(&rules)
	set := &tool.Set{}
	for t := range w.join(ctx, own, w.gate.guard(kit.Tools()), w.serverTools(ctx)).All() {
		if has(&t) {
			if err := set.Add(t); err != nil {
				return nil, err
			}
		}
	}
	o, err := w.options(found)
	if err != nil {
		return nil, err
	}
	o.Tools, o.System = w.executor(set, kit), disclose.Join(r.text, w.place(), r.body(), w.context.Body())
	if check := o.Tools.Check; may != nil {
		o.Tools.Check = func(ctx context.Context, name string, args json.RawMessage) error {
			if err := may(name, args); err != nil {
				return err
			}
			return check(ctx, name, args)
		}
	}
	o.Turn = func(context.Context, string) string { return kit.Opening() }
	o.Fork, o.End, o.CacheKey = nil, kit.End, who.Task
	o.Identity = who
	o.Continue = func(ctx context.Context, before int) string { return w.continued(ctx, kit, before) }
	o.Carry = func(ctx context.Context) string { return kit.Carry(ctx).Body }
	if o.More = nil; r.tools == nil && r.file == nil {
		o.More = w.more(kit, set)
	}
	w.keepSub(ctx, &f, o, set)
	return o, nil
}

// forkModel returns the model of a sub-agent. A skill, and a file of a project, may choose among the models of the conversation's
// provider, and another model only if the user's settings name it, the user approved it, or it is the user's own file.
func (w *worker) forkModel(ctx context.Context, f tool.Fork) (*models.Found, error) {
	who := fmt.Sprintf("Skill '%s'", f.Skill)
	if f.Skill == "" {
		who = fmt.Sprintf("Agent '%s'", f.Agent)
	}
	found, ok, err := w.s.Models.Finder().For(ctx, f.Model, w.found)
	if errors.Is(err, models.ErrForeign) {
		if err := w.mayAsk(ctx, f); err != nil {
			return nil, err
		}
		found, err = w.s.Models.Finder().Find(ctx, f.Model)
		ok = true
	}
	if err != nil {
		return nil, fmt.Errorf("%s: model %q: %w", who, f.Model, err)
	}
	if !ok {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("%s: unknown model '%s', using %s", who, f.Model, found))
	}
	return found, nil
}

// mayAsk returns an error unless the user lets a skill, or an agent, use the model of another provider.
func (w *worker) mayAsk(ctx context.Context, f tool.Fork) error {
	if f.Model == w.s.Settings.Config().Agent.Model {
		return nil
	}
	if f.Skill == "" {
		if r, _ := w.roleNamed(f.Agent); r.file != nil && !r.file.User {
			return fmt.Errorf("agent %q may not use the model %q: the conversation uses %s, and a file of the project chooses no other provider; set the model in a file of your own, ~/.agents/agents/%s.md",
				f.Agent, f.Model, w.found, f.Agent)
		}
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
