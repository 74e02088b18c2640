// Package telemetry turns the events of package trace into OpenTelemetry spans and metrics. [Bridge] writes to any providers,
// such as those that a program has already; [Export] makes providers that send to a collector.
//
// Spans and metrics follow the GenAI conventions of OpenTelemetry, which have names for skills: an agent's answer is
// "invoke_agent", a request to a model "chat", a call of a tool "execute_tool", with the skill that it is about. A script has a
// span "script_run" with the attributes skill.*. They have names, counts and error codes. Arguments, results and texts of
// errors are sent only with [Options.Content].
//
// The package is the only one that imports OpenTelemetry.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/agent-base/agent-base/telemetry"

// Options configures a Bridge.
type Options struct {
	Tracer oteltrace.TracerProvider
	Meter  metric.MeterProvider

	// Content also sends arguments and results of tools and texts of errors, which may hold anything.
	Content bool
	// Redact removes secrets from every text that is sent. What looks like a key of a well-known service is removed in any case;
	// nil removes nothing else.
	Redact func(string) string
}

var _ trace.Spanner = (*Bridge)(nil)

// Bridge is a trace.Spanner that makes spans and metrics. It is safe for concurrent use.
type Bridge struct {
	o      Options
	redact func(string) string
	tracer oteltrace.Tracer
	meters *meters
}

// New returns a Bridge. It returns an error if a provider is missing or a meter cannot be made.
func New(o *Options) (*Bridge, error) {
	if o == nil || o.Tracer == nil || o.Meter == nil {
		return nil, errors.New("telemetry.Options: Tracer and Meter are needed: an Export has both")
	}
	b := &Bridge{o: *o, tracer: o.Tracer.Tracer(scope), redact: redact.Shapes}
	if further := o.Redact; further != nil {
		b.redact = func(s string) string { return redact.Shapes(further(s)) }
	}
	var err error
	b.meters, err = newMeters(o.Meter.Meter(scope))
	return b, err
}

// openKey is the key of an openSpan in a context.
type openKey struct{}

// openSpan is a span that has not ended.
type openSpan struct {
	kind  trace.Kind
	span  oteltrace.Span
	tool  string    // of a call of a tool
	outer *openSpan // the span around it, or nil
}

func openOf(ctx context.Context) *openSpan {
	open, _ := ctx.Value(openKey{}).(*openSpan)
	return open
}

// toolSpan returns the innermost call of a tool that has not ended, or nil.
func toolSpan(ctx context.Context) *openSpan {
	open := openOf(ctx)
	for open != nil && open.kind != trace.ToolCalled {
		open = open.outer
	}
	return open
}

// madeUp stands for a name that nothing has: a text of a model, which is content, and of which there is no end.
const madeUp = "_OTHER"

// named returns an event without names that were made up.
func named(e trace.Event) trace.Event {
	if textOf(e.Attrs, trace.AttrUnknown) != "true" {
		return e
	}
	for _, name := range []*string{&e.Tool, &e.Skill, &e.Script} {
		if *name != "" {
			*name = madeUp
		}
	}
	return e
}

// Begin starts a span.
func (b *Bridge) Begin(ctx context.Context, e trace.Event, private []slog.Attr) context.Context {
	e = named(e)
	name, kind := b.spanName(ctx, &e)
	attrs := append(b.identity(ctx), b.spanAttrs(&e)...)
	if b.o.Content {
		attrs = append(attrs, b.content(private)...)
	}
	outer := openOf(ctx)
	ctx = from(ctx)
	ctx, span := b.tracer.Start(ctx, name, oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(attrs...))
	open := &openSpan{kind: e.Kind, span: span, tool: e.Tool, outer: outer}
	if e.Kind == trace.ScriptRun {
		b.about(toolSpan(ctx), e.Skill, e.Script)
	}
	header := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, header)
	return context.WithValue(trace.WithParent(ctx, header[traceparent]), openKey{}, open)
}

const traceparent = "traceparent"

// from returns ctx with the span of another program that steps in it belong to, unless it has one of this program.
func from(ctx context.Context) context.Context {
	if oteltrace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: trace.ParentOf(ctx)})
}

// End ends the span of ctx.
func (b *Bridge) End(ctx context.Context, e trace.Event, private []slog.Attr) {
	e = named(e)
	b.meters.count(ctx, b, &e)
	open := openOf(ctx)
	if open == nil {
		return
	}
	open.span.SetAttributes(b.endAttrs(&e)...)
	if b.o.Content {
		open.span.SetAttributes(b.content(private)...)
	}
	b.status(open.span, &e)
	open.span.End(oteltrace.WithTimestamp(e.Time))
}

// Trace counts an event, and makes it an event of the span around it, or a span of its own if it took time.
func (b *Bridge) Trace(ctx context.Context, e trace.Event) {
	e = named(e)
	b.meters.count(ctx, b, &e)
	switch e.Kind {
	case trace.SkillsLoaded, trace.ScriptPrepared, trace.HookRun:
		b.finished(ctx, &e)
	case trace.SkillActivated:
		b.about(toolSpan(ctx), e.Skill, "")
		b.note(ctx, &e)
	case trace.ResourceRead:
		b.about(toolSpan(ctx), e.Skill, textOf(e.Attrs, trace.AttrPath))
	case trace.PathUnresolved:
		b.about(toolSpan(ctx), e.Skill, madeUp)
	case trace.SkillDeactivated, trace.RestrictionViolated, trace.ScriptReadAttempted, trace.ToolAsked, trace.TrustAsked,
		trace.SandboxRefused, trace.NetworkRefused, trace.FileEdited, trace.EditUndone:
		b.note(ctx, &e)
	}
}

// finished makes a span of a step that has ended.
func (b *Bridge) finished(ctx context.Context, e *trace.Event) {
	name, kind := b.spanName(ctx, e)
	attrs := append(b.identity(ctx), b.spanAttrs(e)...)
	_, span := b.tracer.Start(from(ctx), name, oteltrace.WithSpanKind(kind), oteltrace.WithTimestamp(e.Time.Add(-e.Duration)),
		oteltrace.WithAttributes(append(attrs, b.endAttrs(e)...)...))
	b.status(span, e)
	span.End(oteltrace.WithTimestamp(e.Time))
}

// note adds an event to the span of ctx.
func (b *Bridge) note(ctx context.Context, e *trace.Event) {
	oteltrace.SpanFromContext(ctx).AddEvent(string(e.Kind), oteltrace.WithTimestamp(e.Time), oteltrace.WithAttributes(b.spanAttrs(e)...))
}

// about names the skill, and the file of it, that a call of a tool is about.
func (b *Bridge) about(call *openSpan, skill, resource string) {
	if call == nil || skill == "" {
		return
	}
	name := "execute_tool " + b.text(call.tool) + " " + b.text(skill)
	call.span.SetAttributes(skillName.String(b.text(skill)))
	if resource != "" {
		name += " " + b.text(resource)
		call.span.SetAttributes(resourceName.String(b.text(resource)))
	}
	call.span.SetName(name)
}

// status sets the status of a span. The text of the error is content.
func (b *Bridge) status(span oteltrace.Span, e *trace.Event) {
	kind := errorType(e)
	if kind == "" {
		return
	}
	span.SetAttributes(attribute.String("error.type", b.text(kind)))
	text := ""
	if b.o.Content {
		if text = e.Message; e.Err != nil {
			text = e.Err.Error()
		}
	}
	span.SetStatus(codes.Error, b.text(text))
}

// errorType returns the code of a failure, or "" for a success.
func errorType(e *trace.Event) string {
	code := textOf(e.Attrs, trace.AttrCode)
	switch {
	case code != "":
		return code
	case errors.Is(e.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(e.Err, context.Canceled):
		return "cancelled"
	case e.Kind == trace.ToolDenied:
		return "permission_denied"
	case e.Err != nil || e.Level >= slog.LevelError:
		return "_OTHER"
	}
	return ""
}

// milliseconds returns a duration with its fraction.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
