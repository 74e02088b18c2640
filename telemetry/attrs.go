package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agent-base/agent-base/trace"
)

// Bounds on what is sent, in bytes and names.
const (
	maxName    = 256
	maxContent = 8 << 10
	maxNames   = 200
)

// The attributes of the GenAI conventions (open-telemetry/semantic-conventions-genai), and those of scripts.
const (
	operation    = attribute.Key("gen_ai.operation.name")
	provider     = attribute.Key("gen_ai.provider.name")
	model        = attribute.Key("gen_ai.request.model")
	agentName    = attribute.Key("gen_ai.agent.name")
	conversation = attribute.Key("gen_ai.conversation.id")
	toolName     = attribute.Key("gen_ai.tool.name")
	toolType     = attribute.Key("gen_ai.tool.type")
	skillName    = attribute.Key("gen_ai.skill.name")
	resourceName = attribute.Key("gen_ai.skill.resource.name")
	tokenType    = attribute.Key("gen_ai.token.type")

	scriptSkill  = attribute.Key("skill.name")
	scriptName   = attribute.Key("skill.script")
	scriptMillis = attribute.Key("skill.execution.duration_ms")
	scriptStatus = attribute.Key("skill.execution.status")
	scriptError  = attribute.Key("skill.error_type")
	scriptStdout = attribute.Key("skill.stdout_bytes")
	scriptStderr = attribute.Key("skill.stderr_bytes")
)

// spanName returns the name and the kind of the span of a step.
func (b *Bridge) spanName(ctx context.Context, e *trace.Event) (string, oteltrace.SpanKind) {
	id := trace.IdentityOf(ctx)
	join := func(words ...string) string {
		for i, w := range words {
			words[i] = b.text(w)
		}
		return strings.TrimSpace(strings.Join(words, " "))
	}
	switch e.Kind {
	case trace.AgentAnswered:
		return join("invoke_agent", id.Agent), oteltrace.SpanKindInternal
	case trace.ModelRequested:
		_, name := modelOf(id)
		return join("chat", name), oteltrace.SpanKindClient
	case trace.ToolCalled:
		return join("execute_tool", e.Tool), oteltrace.SpanKindInternal
	case trace.SkillsLoaded:
		return "load_enabled_skills", oteltrace.SpanKindInternal
	}
	return join(string(e.Kind), e.Skill, e.Script), oteltrace.SpanKindInternal
}

// modelOf returns the provider and the model of an identity.
func modelOf(id trace.Identity) (from, name string) {
	from, name, ok := strings.Cut(id.Model, "/")
	if !ok {
		return "", id.Model
	}
	return from, name
}

// identity returns for whom a step is taken.
func (b *Bridge) identity(ctx context.Context) []attribute.KeyValue {
	id := trace.IdentityOf(ctx)
	from, name := modelOf(id)
	var out []attribute.KeyValue
	for _, kv := range []attribute.KeyValue{
		agentName.String(id.Agent), conversation.String(id.Task), provider.String(from), model.String(name),
		attribute.String("tenant.id", id.Tenant), attribute.String("correlation.id", id.Correlation),
	} {
		if kv.Value.AsString() != "" {
			out = append(out, attribute.String(string(kv.Key), cut(kv.Value.AsString(), maxName)))
		}
	}
	return out
}

// spanAttrs returns what is known when a step begins.
func (b *Bridge) spanAttrs(e *trace.Event) []attribute.KeyValue {
	var out []attribute.KeyValue
	add := func(key attribute.Key, text string) {
		if text != "" {
			out = append(out, key.String(b.text(text)))
		}
	}
	switch e.Kind {
	case trace.AgentAnswered:
		add(operation, "invoke_agent")
	case trace.ModelRequested:
		add(operation, "chat")
	case trace.ToolCalled:
		add(operation, "execute_tool")
		add(toolType, "function")
	case trace.ScriptRun:
		add(scriptSkill, e.Skill)
		add(scriptName, e.Script)
	}
	add(toolName, e.Tool)
	add(skillName, e.Skill)
	add(resourceName, e.Script)
	add("host", textOf(e.Attrs, trace.AttrHost))
	add("rule", textOf(e.Attrs, trace.AttrRule))
	return out
}

// endAttrs returns what is known when a step has ended.
func (b *Bridge) endAttrs(e *trace.Event) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range e.Attrs {
		key, ok := numbers[numberKey{e.Kind, a.Key}]
		if v := a.Value.Resolve(); ok && v.Kind() == slog.KindInt64 {
			out = append(out, key.Int64(v.Int64()))
		}
		if names, ok := a.Value.Resolve().Any().([]string); ok && e.Kind == trace.SkillsLoaded && a.Key == trace.AttrNames {
			out = append(out, attribute.StringSlice("skill.names", b.names(names)))
		}
	}
	if e.Kind != trace.ScriptRun {
		return out
	}
	status := "success"
	if kind := errorType(e); kind != "" {
		out = append(out, scriptError.String(b.text(kind)))
		if status = "error"; kind == "timeout" {
			status = "timeout"
		}
	}
	out = append(out, scriptStatus.String(status), scriptMillis.Float64(milliseconds(e.Duration)))
	for from, to := range map[string]attribute.Key{trace.AttrProgram: "process.executable.name", trace.AttrSandbox: "skill.sandbox.tier"} {
		if text := textOf(e.Attrs, from); text != "" {
			out = append(out, to.String(b.text(text)))
		}
	}
	return out
}

type numberKey struct {
	kind trace.Kind
	key  string
}

// numbers names the attributes that are counts.
var numbers = map[numberKey]attribute.Key{
	{trace.ModelRequested, trace.AttrInput}:  "gen_ai.usage.input_tokens",
	{trace.ModelRequested, trace.AttrOutput}: "gen_ai.usage.output_tokens",
	{trace.ModelRequested, "cache_read"}:     "gen_ai.usage.cache_read.input_tokens",
	{trace.AgentAnswered, trace.AttrInput}:   "gen_ai.usage.input_tokens",
	{trace.AgentAnswered, trace.AttrOutput}:  "gen_ai.usage.output_tokens",
	{trace.ScriptRun, trace.AttrStdout}:      scriptStdout,
	{trace.ScriptRun, trace.AttrStderr}:      scriptStderr,
	{trace.ScriptRun, trace.AttrExitCode}:    "process.exit.code",
	{trace.SkillsLoaded, trace.AttrCount}:    "skill.count",
	{trace.SkillsLoaded, trace.AttrFound}:    "skill.discovered",
}

// names returns at most maxNames names.
func (b *Bridge) names(all []string) []string {
	out := make([]string, 0, min(len(all), maxNames))
	for _, name := range all[:min(len(all), maxNames)] {
		out = append(out, b.text(name))
	}
	return out
}

// content returns private attributes.
func (b *Bridge) content(private []slog.Attr) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, a := range private {
		v := a.Value.Resolve()
		text := v.String()
		if v.Kind() == slog.KindAny {
			if raw, err := json.Marshal(v.Any()); err == nil {
				text = string(raw)
			}
		}
		out = append(out, attribute.String("gen_ai.tool.call."+a.Key, cut(b.redact(text), maxContent)))
	}
	return out
}

// text returns a name without secrets.
func (b *Bridge) text(s string) string { return cut(b.redact(cut(s, 4*maxName)), maxName) }

// textOf returns the text of an attribute, or "".
func textOf(attrs []slog.Attr, key string) string {
	for _, a := range attrs {
		if a.Key == key {
			return fmt.Sprint(a.Value.Resolve().Any())
		}
	}
	return ""
}

// cut returns the beginning of a text in at most limit bytes, valid.
func cut(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
