package worker

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
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
	scripts, toolsets := 0, 0
	for e := range cat.Visible() {
		if e.Server() != "" { // nothing of it is read before it is wanted
			continue
		}
		s, err := e.Load(ctx)
		if err != nil {
			event(ctx, t, slog.LevelError, e.Name(), fmt.Sprintf("Failed to load skill '%s': %v", e.Name(), err))
			continue
		}
		list, _ := script.List(s, o)
		n, sets := len(list), len(toolkit.ToolsetNames(s))
		s.Close()
		scripts, toolsets = scripts+n, toolsets+sets
		text := fmt.Sprintf("Loaded skill '%s' with %s", e.Name(), output.Count(n, "script"))
		if sets > 0 {
			text += " and " + output.Count(sets, "toolset")
		}
		event(ctx, t, slog.LevelInfo, e.Name(), text)
	}
	event(ctx, t, slog.LevelInfo, "", fmt.Sprintf("Loaded %d skill toolsets, %d scripts", toolsets, scripts))
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
	if cat, err = withoutBroken(ctx, s, cat); err != nil {
		return nil, err
	}
	logSkills(ctx, s.Out.Tracer(), cat, s.Settings.Survey())
	return cat, nil
}

// withoutBroken returns the catalogue without the skills whose toolsets cannot be loaded, if the settings say so.
func withoutBroken(ctx context.Context, s *app.Services, cat *skill.Catalog) (*skill.Catalog, error) {
	broken, err := s.Tools.BrokenToolsets(ctx, cat)
	if err != nil || len(broken) == 0 {
		return cat, err
	}
	names := slices.Sorted(maps.Keys(broken))
	for _, name := range names {
		text := fmt.Sprintf("Failed to load skills: %s: %s", name, broken[name])
		if t := s.Out.Tracer(); t != nil {
			event(ctx, t, slog.LevelError, name, text)
		} else {
			s.Out.Warn(text)
		}
	}
	return s.Skills.Without(names).OpenQuietly(ctx)
}
