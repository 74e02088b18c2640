package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// agentStarted is what the agent's start traces.
const agentStarted trace.Kind = "agent_started"

// logSkills says what the agent starts with (R161). It looks for scripts, so it works only where somebody reads it.
func (a *app) logSkills(ctx context.Context, cat *skill.Catalog) {
	if a.tracer() == nil {
		return
	}
	scripts := 0
	for e := range cat.Visible() {
		s, err := e.Load(ctx)
		if err != nil {
			a.event(ctx, slog.LevelError, e.Name(), fmt.Sprintf("Failed to load skill '%s': %v", e.Name(), err))
			continue
		}
		n := len(scriptNames(s))
		s.Close()
		scripts += n
		a.event(ctx, slog.LevelInfo, e.Name(), fmt.Sprintf("Loaded skill '%s' with %s", e.Name(), count(n, "script")))
	}
	a.event(ctx, slog.LevelInfo, "", fmt.Sprintf("Loaded 0 skill toolsets, %d scripts", scripts))
}

func (a *app) event(ctx context.Context, level slog.Level, name, text string) {
	trace.Emit(ctx, a.tracer(), trace.Event{Kind: agentStarted, Level: level, Skill: name, Message: text})
}

// skillsOrNone opens the skills there are. Where that fails the agent works without them, and says so (R161).
func (a *app) skillsOrNone(ctx context.Context) (*skill.Catalog, error) {
	cat, err := a.catalog(ctx)
	if err == nil || ctx.Err() != nil {
		return cat, err
	}
	text := fmt.Sprintf("Failed to load skills: %v", err)
	if a.tracer() != nil {
		a.event(ctx, slog.LevelError, "", text)
	} else {
		a.warn(text)
	}
	return skill.Open(ctx, &skill.Options{})
}
