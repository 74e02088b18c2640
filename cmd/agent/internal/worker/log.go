package worker

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// agentStarted is the kind of the events at the agent's start.
const agentStarted trace.Kind = "agent_started"

// logSkills logs the skills that the agent starts with. It looks for scripts, so it does nothing without a tracer.
func logSkills(ctx context.Context, t trace.Tracer, cat *skill.Catalog, o *survey.Options) {
	if t == nil {
		return
	}
	scripts := 0
	for e := range cat.Visible() {
		s, err := e.Load(ctx)
		if err != nil {
			event(ctx, t, slog.LevelError, e.Name(), fmt.Sprintf("Failed to load skill '%s': %v", e.Name(), err))
			continue
		}
		list, _ := script.List(s, o)
		n := len(list)
		s.Close()
		scripts += n
		event(ctx, t, slog.LevelInfo, e.Name(), fmt.Sprintf("Loaded skill '%s' with %s", e.Name(), app.Count(n, "script")))
	}
	event(ctx, t, slog.LevelInfo, "", fmt.Sprintf("Loaded 0 skill toolsets, %d scripts", scripts))
}

func event(ctx context.Context, t trace.Tracer, level slog.Level, name, text string) {
	trace.Emit(ctx, t, trace.Event{Kind: agentStarted, Level: level, Skill: name, Message: text})
}

// skillsOrNone opens the catalogue. If that fails, the agent works without skills and says so.
func skillsOrNone(ctx context.Context, s *app.Services) (*skill.Catalog, error) {
	cat, err := s.Skills.Open(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		text := fmt.Sprintf("Failed to load skills: %v", err)
		if t := s.Out.Tracer(); t != nil {
			event(ctx, t, slog.LevelError, "", text)
		} else {
			s.Out.Warn(text)
		}
		if cat, err = skill.Open(ctx, &skill.Options{}); err != nil {
			return nil, err
		}
	}
	logSkills(ctx, s.Out.Tracer(), cat, s.Settings.Survey())
	return cat, nil
}
