package worker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/tool"
)

// role is a kind of sub-agent that a skill can name in the field agent.
type role struct {
	name  string
	tools []string // nil means all
	text  string
}

// roles are the sub-agents there are; a name that is none of them means the first.
var roles = []role{
	{name: "general-purpose", text: "You do one task for another agent. Work on your own: nobody answers questions. End with the result alone, complete and short."},
	{name: "explore", tools: readOnly, text: "You find something out for another agent and change nothing. End with what you found, with paths and line numbers, complete and short."},
	{name: "plan", tools: readOnly, text: "You plan a task for another agent and change nothing. End with the plan: the steps, the files that each of them touches, and what may go wrong."},
}

// readOnly are the tools that change nothing.
var readOnly = []string{"read_file", "glob", "grep", "skill", "skill_read", "script_list", "script_help"}

func roleNamed(name string) role {
	i := slices.IndexFunc(roles, func(r role) bool { return strings.EqualFold(r.name, name) })
	return roles[max(i, 0)]
}

// fork makes the sub-agent that a skill with context: fork runs in: its model, its kind, a session of its own.
func (w *worker) fork(ctx context.Context, f tool.Fork) (*agent.Options, error) {
	found, ok, err := w.s.Models.Finder().For(ctx, f.Model, w.found)
	if err != nil {
		return nil, fmt.Errorf("skill %q wants the model %q: %w", f.Skill, f.Model, err)
	}
	if !ok {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("Skill '%s' wants the model '%s', which says nothing here: %s is asked", f.Skill, f.Model, found))
	}
	r := roleNamed(f.Agent)
	if f.Agent != "" && !strings.EqualFold(r.name, f.Agent) {
		w.emit(ctx, slog.LevelWarn, fmt.Sprintf("Skill '%s' wants the agent '%s', which there is not: %s does it", f.Skill, f.Agent, r.name))
	}
	own, err := w.ownTools()
	if err != nil {
		return nil, err
	}
	kit, err := w.kit.Sub(ctx, f)
	if err != nil {
		return nil, err
	}
	set := &tool.Set{}
	for t := range w.join(ctx, own, kit.Tools()).All() {
		if r.tools == nil || slices.Contains(r.tools, t.Name) {
			if err := set.Add(t); err != nil {
				return nil, err
			}
		}
	}
	o := w.options()
	o.Model, o.Tools, o.System = found.Model, w.executor(set), disclose.Join(r.text, w.place())
	o.Turn, o.Fork, o.CacheKey = nil, nil, w.id+"-"+f.Skill
	o.Carry = func(ctx context.Context) string { return kit.Carry(ctx).Body }
	return o, nil
}

func (w *worker) emit(ctx context.Context, level slog.Level, text string) {
	event(ctx, w.s.Out.Tracer(), level, "", text)
}
