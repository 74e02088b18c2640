// Package trace reports what the engine does. Every step is an [Event]; an audit log, metrics, spans and log lines are
// made from the same events.
//
// The package depends on the standard library alone. A [Tracer] must be safe for concurrent use and must not block: it is
// called in the course of the step that it observes.
package trace

import (
	"context"
	"log/slog"
	"time"
)

// Kind names a step. The set is open: other packages have kinds of their own.
type Kind string

// The kinds of the engine. An event is emitted when its step has ended, except where it says otherwise.
const (
	CatalogRefreshed Kind = "catalog_refreshed" // a watcher found that skills have changed
	SkillActivated   Kind = "skill_activated"   // also when the activation was renewed or restored
	SkillDeactivated Kind = "skill_deactivated"
	ResourceRead     Kind = "resource_read"    // a model read a file of a skill
	ScriptPreparing  Kind = "script_preparing" // begins; ScriptPrepared is its end
	ScriptPrepared   Kind = "script_prepared"
	ScriptStarted    Kind = "script_started" // begins; ScriptRun is its end
	ScriptRun        Kind = "script_run"     // also, without ScriptStarted, for a script that could not be started
	TrustAsked       Kind = "trust_asked"    // an approver answered whether a skill's content may run
	ToolCalled       Kind = "tool_called"    // also for a call that failed before it reached the tool
	ToolDenied       Kind = "tool_denied"    // a tool was refused, or the text of a script was
)

// Event is one step. Fields that do not apply are zero. Strings may come from a skill or a model: a tracer that prints them
// must escape them.
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
	Attrs    []slog.Attr // further facts, in a stable order
}

// Tracer receives events.
type Tracer interface {
	Trace(context.Context, Event)
}

// TracerFunc is a function that is a Tracer.
type TracerFunc func(context.Context, Event)

// Trace calls f.
func (f TracerFunc) Trace(ctx context.Context, e Event) { f(ctx, e) }

// Emit sends e to t. It sets e.Time to the current time if it is zero. If t is nil, Emit does nothing.
func Emit(ctx context.Context, t Tracer, e Event) {
	if t == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	t.Trace(ctx, e)
}

// Tee returns a Tracer that sends every event to each tracer in turn. It ignores nil tracers.
func Tee(tracers ...Tracer) Tracer {
	return TracerFunc(func(ctx context.Context, e Event) {
		for _, t := range tracers {
			if t != nil {
				t.Trace(ctx, e)
			}
		}
	})
}

// Log returns a Tracer that writes each event to l, at the level of the event.
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
