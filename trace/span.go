package trace

import (
	"context"
	"log/slog"
)

// Spanner is a Tracer that follows steps from their beginning to their end, such as a bridge to spans. It gets the steps of
// Begin by Begin and End in place of Trace, and the other events by Trace.
type Spanner interface {
	Tracer
	// Begin gets a step that begins, and returns the context in which the step is taken. private has what may be secret:
	// arguments of a tool.
	Begin(ctx context.Context, e Event, private []slog.Attr) context.Context
	// End gets the event of a step that has ended, with the context that Begin returned. private has its result.
	End(ctx context.Context, e Event, private []slog.Attr)
}

// Span is a step that has begun.
type Span struct {
	ctx context.Context
	t   Tracer
}

// Begin reports to t, if it is a Spanner, that the step of e begins, and returns the context for what is done within it. The
// caller must call End once. A tracer that is not a Spanner gets nothing before the end. Events have no private attributes;
// only a Spanner gets them.
func Begin(ctx context.Context, t Tracer, e Event, private ...slog.Attr) (context.Context, *Span) {
	if s, ok := t.(Spanner); ok {
		ctx = s.Begin(ctx, e, private)
	}
	return ctx, &Span{ctx, t}
}

// End sends the event of the step, as Emit does.
func (s *Span) End(e Event, private ...slog.Attr) {
	if spanner, ok := s.t.(Spanner); ok {
		spanner.End(s.ctx, timed(e), private)
		return
	}
	Emit(s.ctx, s.t, e)
}

// tee is what Tee returns.
type tee []Tracer

func (t tee) Trace(ctx context.Context, e Event) {
	for _, one := range t {
		one.Trace(ctx, e)
	}
}

func (t tee) Begin(ctx context.Context, e Event, private []slog.Attr) context.Context {
	for _, one := range t {
		if s, ok := one.(Spanner); ok {
			ctx = s.Begin(ctx, e, private)
		}
	}
	return ctx
}

func (t tee) End(ctx context.Context, e Event, private []slog.Attr) {
	for _, one := range t {
		if s, ok := one.(Spanner); ok {
			s.End(ctx, e, private)
		} else {
			one.Trace(ctx, e)
		}
	}
}
