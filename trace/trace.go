// Package trace is the one stream of what the engine does: every step is an Event, and audit log,
// metrics, spans and log lines are readers of it.
//
// It depends on the standard library alone. Tracers must be safe for concurrent use and must not
// block: they are called on the path that they observe.
package trace

import (
	"context"
	"log/slog"
	"time"
)

// Kind names a step. The set is open; these are the engine's own.
type Kind string

// The steps of this build.
const (
	CatalogOpened    Kind = "catalog_opened"
	CatalogRefreshed Kind = "catalog_refreshed"
	SkillActivated   Kind = "skill_activated"
	SkillDeactivated Kind = "skill_deactivated"
	ResourceRead     Kind = "resource_read"
	ScriptPreparing  Kind = "script_preparing" // begins; ScriptPrepared is its end
	ScriptPrepared   Kind = "script_prepared"
	ScriptStarted    Kind = "script_started" // begins; ScriptRun is its end, also of one that was refused
	ScriptRun        Kind = "script_run"
	TrustAsked       Kind = "trust_asked" // somebody answered whether content may run
	ToolCalled       Kind = "tool_called"
	ToolDenied       Kind = "tool_denied"
)

// Event is one step. Fields that do not apply are zero. Strings may come from a skill or a model:
// a reader that prints them escapes them.
type Event struct {
	Time     time.Time // filled in by Emit when zero
	Kind     Kind
	Level    slog.Level // Info for success, Error or Warn for failure
	Skill    string
	Script   string
	Tool     string
	Message  string
	Duration time.Duration
	Err      error
	Attrs    []slog.Attr // what else is worth keeping, in a stable order
}

// Tracer receives events.
type Tracer interface {
	Trace(context.Context, Event)
}

// TracerFunc makes a Tracer of a function.
type TracerFunc func(context.Context, Event)

// Trace calls f.
func (f TracerFunc) Trace(ctx context.Context, e Event) { f(ctx, e) }

// Emit sends e to t, with the present time if it has none. A nil t discards it.
func Emit(ctx context.Context, t Tracer, e Event) {
	if t == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	t.Trace(ctx, e)
}

// Tee sends every event to each tracer in turn; nil ones are left out.
func Tee(tracers ...Tracer) Tracer {
	return TracerFunc(func(ctx context.Context, e Event) {
		for _, t := range tracers {
			if t != nil {
				t.Trace(ctx, e)
			}
		}
	})
}

// Log writes events as lines of l, at their level.
func Log(l *slog.Logger) Tracer {
	return TracerFunc(func(ctx context.Context, e Event) {
		if !l.Enabled(ctx, e.Level) {
			return
		}
		l.LogAttrs(ctx, e.Level, message(e), attrs(e)...)
	})
}

func message(e Event) string {
	if e.Message != "" {
		return e.Message
	}
	return string(e.Kind)
}

func attrs(e Event) []slog.Attr {
	out := make([]slog.Attr, 0, 5+len(e.Attrs))
	for _, a := range []slog.Attr{
		slog.String("skill", e.Skill), slog.String("script", e.Script), slog.String("tool", e.Tool),
	} {
		if a.Value.String() != "" {
			out = append(out, a)
		}
	}
	if e.Duration > 0 {
		out = append(out, slog.Duration("duration", e.Duration))
	}
	if e.Err != nil {
		out = append(out, slog.String("error", e.Err.Error()))
	}
	return append(out, e.Attrs...)
}
