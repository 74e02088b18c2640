package telemetry

import (
	"context"
	"errors"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agent-base/agent-base/trace"
)

// meters are the instruments.
type meters struct {
	tool, model, script metric.Float64Histogram // seconds
	tokens              metric.Int64Histogram
	found, enabled      metric.Int64Gauge

	activations, denied, paths, violations, reads metric.Int64Counter
}

func newMeters(m metric.Meter) (*meters, error) {
	var failed []error
	seconds := func(name, about string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about),
			metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
		failed = append(failed, err)
		return h
	}
	counter := func(name, about string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithDescription(about))
		failed = append(failed, err)
		return c
	}
	gauge := func(name, about string) metric.Int64Gauge {
		g, err := m.Int64Gauge(name, metric.WithUnit("{skill}"), metric.WithDescription(about))
		failed = append(failed, err)
		return g
	}
	tokens, err := m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Tokens of requests to models"),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	out := &meters{
		tool:        seconds("gen_ai.execute_tool.duration", "Duration of calls of tools"),
		model:       seconds("gen_ai.client.operation.duration", "Duration of requests to models"),
		script:      seconds("agent_skills.script.duration", "Duration of scripts of skills"),
		tokens:      tokens,
		found:       gauge("agent_skills.discovered", "Skills that were found"),
		enabled:     gauge("agent_skills.enabled", "Skills that are loaded"),
		activations: counter("agent_skills.activations", "Activations of skills"),
		denied:      counter("agent_skills.denied", "What was refused, by reason"),
		paths:       counter("skill_path_resolution_failures", "Files of skills that models named and that are not there"),
		violations:  counter("tool_restriction_violations", "Calls of tools that a skill does not allow"),
		reads:       counter("script_read_attempts", "Attempts of models to read a script"),
	}
	return out, errors.Join(append(failed, err)...)
}

// count counts an event.
func (m *meters) count(ctx context.Context, b *Bridge, e *trace.Event) {
	from, name := modelOf(trace.IdentityOf(ctx))
	byModel := []attribute.KeyValue{provider.String(cut(from, maxName)), model.String(cut(name, maxName))}
	with := func(attrs ...attribute.KeyValue) metric.MeasurementOption {
		if kind := errorType(e); kind != "" {
			attrs = append(attrs, attribute.String("error.type", b.text(kind)))
		}
		return metric.WithAttributes(attrs...)
	}
	switch e.Kind {
	case trace.ToolCalled, trace.ToolDenied:
		m.tool.Record(ctx, e.Duration.Seconds(), with(toolName.String(b.text(e.Tool))))
	case trace.ModelRequested:
		m.model.Record(ctx, e.Duration.Seconds(), with(append(byModel, operation.String("chat"))...))
		m.usage(ctx, e, append(byModel, operation.String("chat")))
	case trace.ScriptRun:
		m.script.Record(ctx, e.Duration.Seconds(), with(scriptSkill.String(b.text(e.Skill)), scriptName.String(b.text(e.Script))))
	case trace.SkillActivated:
		m.activations.Add(ctx, 1, with(scriptSkill.String(b.text(e.Skill))))
	case trace.SkillsLoaded:
		m.enabled.Record(ctx, intOf(e.Attrs, trace.AttrCount))
		m.found.Record(ctx, intOf(e.Attrs, trace.AttrFound))
	case trace.PathUnresolved:
		m.paths.Add(ctx, 1, metric.WithAttributes(byModel...))
	case trace.RestrictionViolated:
		m.violations.Add(ctx, 1, metric.WithAttributes(byModel...))
	case trace.ScriptReadAttempted:
		m.reads.Add(ctx, 1, metric.WithAttributes(append(byModel, attribute.String("blocked", textOf(e.Attrs, trace.AttrBlocked)))...))
	}
	if isRefusal(e) {
		m.denied.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", string(e.Kind))))
	}
}

// isRefusal reports whether an event says that something was refused. The refusal of a tool by a skill is two events.
func isRefusal(e *trace.Event) bool {
	switch e.Kind {
	case trace.RestrictionViolated, trace.SandboxRefused, trace.NetworkRefused:
		return true
	case trace.ToolDenied:
		return e.Level >= slog.LevelInfo
	case trace.ScriptReadAttempted:
		return textOf(e.Attrs, trace.AttrBlocked) == "true"
	}
	return false
}

// usage records the tokens of a request.
func (m *meters) usage(ctx context.Context, e *trace.Event, attrs []attribute.KeyValue) {
	for key, kind := range map[string]string{trace.AttrInput: "input", trace.AttrOutput: "output"} {
		if n := intOf(e.Attrs, key); n > 0 {
			m.tokens.Record(ctx, n, metric.WithAttributes(append(attrs[:len(attrs):len(attrs)], tokenType.String(kind))...))
		}
	}
}

// intOf returns the number of an attribute, or 0.
func intOf(attrs []slog.Attr, key string) int64 {
	for _, a := range attrs {
		if v := a.Value.Resolve(); a.Key == key && v.Kind() == slog.KindInt64 {
			return v.Int64()
		}
	}
	return 0
}
