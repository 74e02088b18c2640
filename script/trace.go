package script

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Traced traces the start of a run of a script, or of a call for its help. It returns the context of the run and a function that traces its
// end. A Host calls it; so does a program that has a script run somewhere else.
func Traced(ctx context.Context, t trace.Tracer, s *skill.Skill, sc Script, help bool) (context.Context, func(error, ...slog.Attr)) {
	begun, success := time.Now(), "Executed "+sc.Name+" script"
	var attrs []slog.Attr
	if help {
		success, attrs = "Retrieved help for "+sc.Name, []slog.Attr{slog.Bool(trace.AttrHelp, true)}
	}
	ctx, span := trace.Begin(ctx, t, trace.Event{Kind: trace.ScriptRun, Skill: s.Canonical(), Script: sc.Name, Attrs: attrs})
	trace.Emit(ctx, t, trace.Event{Kind: trace.ScriptStarted, Level: slog.LevelDebug, Skill: s.Canonical(), Script: sc.Name, Attrs: attrs})
	return ctx, func(err error, more ...slog.Attr) {
		ev := trace.Event{Kind: trace.ScriptRun, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(begun), Message: success, Err: err,
			Attrs: append(slices.Clip(attrs), more...)}
		if err != nil {
			ev.Level, ev.Message = slog.LevelError, "Script "+sc.Name+" failed"
			var e *Error
			if errors.As(err, &e) {
				ev.Attrs = append(ev.Attrs, slog.String(trace.AttrCode, string(e.Code)))
			}
			if e != nil && e.Reason != "" {
				ev.Attrs = append(ev.Attrs, slog.String(trace.AttrReason, e.Reason))
			}
			if e != nil && e.Reason == ReasonSandbox {
				trace.Emit(ctx, t, trace.Event{Kind: trace.SandboxRefused, Level: slog.LevelWarn, Skill: ev.Skill, Script: sc.Name, Err: err})
			}
		}
		span.End(ev)
	}
}

// preparing traces the beginning of the preparation of a script's dependencies and returns a function that traces its end.
func (h *Host) preparing(ctx context.Context, s *skill.Skill, sc Script) func(error) {
	begun := time.Now()
	trace.Emit(ctx, h.o.Trace, trace.Event{Kind: trace.ScriptPreparing, Level: slog.LevelDebug, Skill: s.Canonical(), Script: sc.Name})
	return func(err error) {
		ev := trace.Event{Kind: trace.ScriptPrepared, Skill: s.Canonical(), Script: sc.Name, Duration: time.Since(begun),
			Message: "Prepared dependencies of " + sc.Name, Err: err}
		if err != nil {
			ev.Level, ev.Message = slog.LevelError, "Preparing dependencies of "+sc.Name+" failed"
		}
		trace.Emit(ctx, h.o.Trace, ev)
	}
}
