package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// collector is a local OTLP collector.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	status  int
	bodies  []string
	headers []http.Header
	spans   []spanJSON
	metrics map[string]metricJSON
}

func newCollector(t *testing.T) *collector {
	c := &collector{status: http.StatusOK, metrics: map[string]metricJSON{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.bodies, c.headers = append(c.bodies, string(body)), append(c.headers, r.Header)
		var traces tracesJSON
		var metrics metricsJSON
		switch r.URL.Path {
		case "/v1/traces":
			err = errors.Join(err, json.Unmarshal(body, &traces))
		case "/v1/metrics":
			err = errors.Join(err, json.Unmarshal(body, &metrics))
		default:
			err = fmt.Errorf("path %q", r.URL.Path)
		}
		if err != nil {
			t.Error(err)
		}
		for _, rs := range traces.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				c.spans = append(c.spans, ss.Spans...)
			}
		}
		for _, rm := range metrics.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
		w.WriteHeader(c.status)
	}))
	t.Cleanup(c.Close)
	return c
}

// start returns a bridge that sends to c, and a function that sends what is left.
func (c *collector) start(t *testing.T, o Options) (*Bridge, func() error) {
	t.Helper()
	e, err := Start(&ExportOptions{Endpoint: c.URL + "/", Headers: map[string]string{"X-Key": "k"}, Resource: map[string]string{"service.name": "tests"}})
	if err != nil {
		t.Fatal(err)
	}
	o.Tracer, o.Meter = e.Tracer(), e.Meter()
	b, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return b, func() error { return e.Close(context.Background()) }
}

// counted returns what the collector got of each metric, sorted.
func (c *collector) counted() (got []string) {
	for _, m := range c.metrics {
		for _, part := range []*points{m.Sum, m.Gauge} {
			if part != nil {
				for _, p := range part.Points {
					got = append(got, fmt.Sprintf("%s %s %s", m.Name, p.Int, text(p.Attributes)))
				}
			}
		}
		if m.Histogram != nil {
			for _, p := range m.Histogram.Points {
				got = append(got, fmt.Sprintf("%s n=%s %s", m.Name, p.Count, text(p.Attributes)))
			}
		}
	}
	slices.Sort(got)
	return got
}

// text returns the attributes of a span on one line, without those of the identity.
func text(attrs []keyValue) string {
	var out []string
	for _, kv := range attrs {
		raw, _ := json.Marshal(kv.Value)
		value := string(raw[strings.IndexByte(string(raw), ':')+1 : len(raw)-1])
		switch kv.Key {
		case "gen_ai.conversation.id", "gen_ai.agent.name", "gen_ai.provider.name", "gen_ai.request.model", "tenant.id", "correlation.id":
			continue
		case "skill.execution.duration_ms":
			value = "…"
		}
		out = append(out, kv.Key+"="+value)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// conversation makes the events of an answer that activates a skill, runs a script and is refused a tool.
func conversationOf(t *testing.T, b trace.Tracer) {
	ctx := trace.WithIdentity(t.Context(), trace.Identity{Agent: "agent", Task: "t1", Model: "anthropic/claude", Tenant: "acme"})
	trace.Emit(ctx, b, trace.Event{Kind: trace.SkillsLoaded, Duration: time.Millisecond,
		Attrs: []slog.Attr{slog.Any(trace.AttrNames, []string{"gh", "kalshi"}), slog.Int(trace.AttrCount, 2), slog.Int(trace.AttrFound, 3)}})
	ctx, answer := trace.Begin(ctx, b, trace.Event{Kind: trace.AgentAnswered})
	_, chat := trace.Begin(ctx, b, trace.Event{Kind: trace.ModelRequested})
	chat.End(trace.Event{Kind: trace.ModelRequested, Attrs: []slog.Attr{slog.Int(trace.AttrInput, 100), slog.Int(trace.AttrOutput, 7)}})

	in, call := trace.Begin(ctx, b, trace.Event{Kind: trace.ToolCalled, Tool: "skill"}, slog.Any("arguments", json.RawMessage(`{"skill_name":"kalshi"}`)))
	trace.Emit(in, b, trace.Event{Kind: trace.SkillActivated, Skill: "kalshi"})
	call.End(trace.Event{Kind: trace.ToolCalled, Tool: "skill", Message: "text of the skill"}, slog.Any("result", "instructions"))

	in, call = trace.Begin(ctx, b, trace.Event{Kind: trace.ToolCalled, Tool: "script_run"}, slog.String("arguments", "--token hunter2-secret"))
	_, run := trace.Begin(in, b, trace.Event{Kind: trace.ScriptRun, Skill: "kalshi", Script: "status"})
	run.End(trace.Event{Kind: trace.ScriptRun, Skill: "kalshi", Script: "status", Level: slog.LevelError, Err: errors.New("stderr: hunter2-secret"), Duration: 1500 * time.Microsecond,
		Attrs: []slog.Attr{slog.String(trace.AttrCode, "timeout"), slog.Int64(trace.AttrStdout, 12), slog.Int(trace.AttrStderr, 3), slog.Int(trace.AttrExitCode, 137), slog.String(trace.AttrProgram, "python3")}})
	call.End(trace.Event{Kind: trace.ToolCalled, Tool: "script_run", Attrs: []slog.Attr{slog.String(trace.AttrCode, "timeout")}}, slog.String("result", "hunter2-secret"))

	_, call = trace.Begin(ctx, b, trace.Event{Kind: trace.ToolCalled, Tool: "bash"})
	trace.Emit(ctx, b, trace.Event{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: "kalshi", Tool: "bash"})
	call.End(trace.Event{Kind: trace.ToolDenied, Level: slog.LevelDebug, Tool: "bash"})
	answer.End(trace.Event{Kind: trace.AgentAnswered, Attrs: []slog.Attr{slog.Int(trace.AttrInput, 100), slog.Int(trace.AttrOutput, 7)}})
}

// R167: spans for loading skills and for each run of a script, in the GenAI conventions; the collector gets them with their
// parents. No argument, result or text of an error is in them (security 2.14 #190).
func TestSpansAtTheCollector(t *testing.T) {
	c := newCollector(t)
	b, end := c.start(t, Options{})
	conversationOf(t, b)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"": "-"}
	for _, s := range c.spans {
		names[s.SpanID] = s.Name
	}
	var got []string
	for _, s := range c.spans {
		line := fmt.Sprintf("%s < %s | %s", s.Name, names[s.ParentID], text(s.Attributes))
		for _, e := range s.Events {
			line += " | event " + e.Name + " " + text(e.Attributes)
		}
		if s.Status.Code == 2 {
			line += " | failed " + s.Status.Message
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{
		`chat claude < invoke_agent agent | gen_ai.operation.name="chat" gen_ai.usage.input_tokens="100" gen_ai.usage.output_tokens="7"`,
		`execute_tool bash < invoke_agent agent | error.type="permission_denied" gen_ai.operation.name="execute_tool" gen_ai.tool.name="bash" gen_ai.tool.type="function" | failed `,
		`execute_tool script_run kalshi status < invoke_agent agent | error.type="timeout" gen_ai.operation.name="execute_tool" gen_ai.skill.name="kalshi" gen_ai.skill.resource.name="status" gen_ai.tool.name="script_run" gen_ai.tool.type="function" | failed `,
		`execute_tool skill kalshi < invoke_agent agent | gen_ai.operation.name="execute_tool" gen_ai.skill.name="kalshi" gen_ai.tool.name="skill" gen_ai.tool.type="function" | event skill_activated gen_ai.skill.name="kalshi"`,
		`invoke_agent agent < - | gen_ai.operation.name="invoke_agent" gen_ai.usage.input_tokens="100" gen_ai.usage.output_tokens="7" | event tool_restriction_violated gen_ai.skill.name="kalshi" gen_ai.tool.name="bash"`,
		`load_enabled_skills < - | skill.count="2" skill.discovered="3" skill.names={"values":[{"stringValue":"gh"},{"stringValue":"kalshi"}]}`,
		`script_run kalshi status < execute_tool script_run kalshi status | error.type="timeout" gen_ai.skill.name="kalshi" gen_ai.skill.resource.name="status" process.executable.name="python3" process.exit.code="137" ` +
			`skill.error_type="timeout" skill.execution.duration_ms=… skill.execution.status="timeout" skill.name="kalshi" skill.script="status" skill.stderr_bytes="3" skill.stdout_bytes="12" | failed `,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for i, body := range c.bodies {
		for _, secret := range []string{"hunter2", "instructions", "text of the skill", "arguments"} {
			if strings.Contains(body, secret) {
				t.Errorf("%q was sent:\n%s", secret, body)
			}
		}
		if c.headers[i].Get("X-Key") != "k" || c.headers[i].Get("Content-Type") != "application/json" {
			t.Errorf("headers %v", c.headers[i])
		}
	}
}

// R131 R167: metrics by model.
func TestMetricsAtTheCollector(t *testing.T) {
	c := newCollector(t)
	b, end := c.start(t, Options{})
	conversationOf(t, b)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	got := c.counted()
	want := []string{
		`agent_skills.activations 1 skill.name="kalshi"`,
		`agent_skills.denied 1 reason="tool_restriction_violated"`,
		`agent_skills.discovered 3 `,
		`agent_skills.enabled 2 `,
		`agent_skills.script.duration n=1 error.type="timeout" skill.name="kalshi" skill.script="status"`,
		`gen_ai.client.operation.duration n=1 gen_ai.operation.name="chat"`,
		`gen_ai.client.token.usage n=1 gen_ai.operation.name="chat" gen_ai.token.type="input"`,
		`gen_ai.client.token.usage n=1 gen_ai.operation.name="chat" gen_ai.token.type="output"`,
		`gen_ai.execute_tool.duration n=1 error.type="permission_denied" gen_ai.tool.name="bash"`,
		`gen_ai.execute_tool.duration n=1 error.type="timeout" gen_ai.tool.name="script_run"`,
		`gen_ai.execute_tool.duration n=1 gen_ai.tool.name="skill"`,
		`tool_restriction_violations 1 `,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The metrics of a program's own reach the collector with their attributes: the sum of a counter, the last value of a gauge.
func TestRecord(t *testing.T) {
	c := newCollector(t)
	e, err := Start(&ExportOptions{Endpoint: c.URL})
	if err != nil {
		t.Fatal(err)
	}
	counter, gauge := &Metric{Name: "own.runs", Unit: "{run}", About: "Runs."}, &Metric{Name: "own.places", Gauge: true}
	wait := &Metric{Name: "own.wait", Unit: "s", Bounds: []float64{1, 2}}
	e.Record(t.Context(), counter, 2, "end", "done")
	e.Record(t.Context(), counter, 3, "end", "done")
	e.Record(t.Context(), counter, 1, "end", "lost")
	e.Record(t.Context(), gauge, 8)
	e.Record(t.Context(), gauge, 5)
	e.Record(t.Context(), wait, 1.5)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"own.places 5 ", `own.runs 1 end="lost"`, `own.runs 5 end="done"`, "own.wait n=1 "}, c.counted()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if m := c.metrics["own.wait"]; m.Unit != "s" || !slices.Equal(m.Histogram.Points[0].Counts, []string{"0", "1", "0"}) {
		t.Errorf("%+v", m)
	}
}

// R170: content is sent only if it is asked for, and then without secrets.
func TestContent(t *testing.T) {
	c := newCollector(t)
	b, end := c.start(t, Options{Content: true, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2-secret", "[redacted]") }})
	conversationOf(t, b)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(c.bodies, "\n")
	for _, want := range []string{`gen_ai.tool.call.arguments`, `--token [redacted]`, `{\"skill_name\":\"kalshi\"}`, `gen_ai.tool.call.result`, `"instructions"`, `stderr: [redacted]`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if strings.Contains(all, "hunter2") {
		t.Errorf("a secret was sent:\n%s", all)
	}
}

// R176: what looks like a key is not sent, whatever Options.Redact does.
func TestKeys(t *testing.T) {
	for _, further := range []func(string) string{nil, func(s string) string { return s }} {
		c := newCollector(t)
		b, end := c.start(t, Options{Redact: further})
		trace.Emit(t.Context(), b, trace.Event{Kind: trace.SkillActivated, Skill: "AKIAIOSFODNN7EXAMPLE"})
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(c.bodies, "\n"); strings.Contains(all, "AKIA") || !strings.Contains(all, "[redacted]") {
			t.Errorf("sent:\n%s", all)
		}
	}
}

// Texts of a stranger are cut and valid, and their number is bounded.
func TestHostileNames(t *testing.T) {
	c := newCollector(t)
	b, end := c.start(t, Options{})
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprint("\xff\x00", strings.Repeat("é", 10_000))[:9_999]
	}
	trace.Emit(t.Context(), b, trace.Event{Kind: trace.SkillsLoaded, Attrs: []slog.Attr{slog.Any(trace.AttrNames, names)}})
	trace.Emit(t.Context(), b, trace.Event{Kind: trace.HookRun, Skill: names[0], Script: names[1]})
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Join(c.bodies, "")); len(c.spans) != 2 || n > 200_000 {
		t.Errorf("%d spans, %d bytes", len(c.spans), n)
	}
}

// What cannot be sent is reported once, without what the address and the headers hold.
func TestCollectorFails(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusServiceUnavailable
	b, end := c.start(t, Options{})
	conversationOf(t, b)
	if err := end(); err == nil || !strings.Contains(err.Error(), "answered 503") {
		t.Errorf("got %v", err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	e, err := Start(&ExportOptions{Endpoint: strings.Replace(gone.URL, "http://", "http://me:hunter2@", 1)})
	if err != nil {
		t.Fatal(err)
	}
	b, err = New(&Options{Tracer: e.Tracer(), Meter: e.Meter()})
	if err != nil {
		t.Fatal(err)
	}
	conversationOf(t, b)
	if err := e.Close(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// Without options Start sends to the usual collector, and New says what is needed.
func TestWithoutOptions(t *testing.T) {
	e, err := Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.traces != defaultEndpoint+"/v1/traces" {
		t.Errorf("sends to %q", e.traces)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := New(nil); err == nil || !strings.Contains(err.Error(), "Tracer and Meter are needed") {
		t.Errorf("got %v", err)
	}
}

func TestOptionsFrom(t *testing.T) {
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/x", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20abc, x=1",
		"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,a=b", "OTEL_EXPORTER_OTLP_TIMEOUT": "500", "OTEL_METRIC_EXPORT_INTERVAL": "1000",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
	}
	o, err := OptionsFrom(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := &ExportOptions{Endpoint: "http://c:4318", Traces: "http://t/x", Headers: map[string]string{"Authorization": "Basic abc", "x": "1"},
		Resource: map[string]string{"service.name": "mine", "a": "b"}, Timeout: 500 * time.Millisecond, Interval: time.Second}
	if d := cmp.Diff(want, o); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for name, value := range map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon"} {
		_, err := OptionsFrom(func(v string) string {
			if v == name {
				return value
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	for _, address := range []string{"collector:4318", "ftp://x", "http://", "%"} {
		if _, err := Start(&ExportOptions{Endpoint: address}); err == nil {
			t.Errorf("%q: no error", address)
		}
	}
}

// security 2.14 #190: a name that a model makes up is content, so it is not sent; and it makes no new series of a metric.
func TestMadeUpNames(t *testing.T) {
	for _, content := range []bool{false, true} {
		c := newCollector(t)
		b, end := c.start(t, Options{Content: content})
		e := &tool.Executor{Tools: &tool.Set{}, Trace: b}
		for i := range 100 {
			e.Call(t.Context(), fmt.Sprintf("hunter2_%d", i), nil)
			trace.Emit(t.Context(), b, trace.Event{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: "hunter2", Script: fmt.Sprint("hunter2-", i),
				Attrs: []slog.Attr{slog.String(trace.AttrCode, "not_found"), slog.Bool(trace.AttrUnknown, true)}})
			in, call := trace.Begin(t.Context(), b, trace.Event{Kind: trace.ToolCalled, Tool: "skill_read"})
			trace.Emit(in, b, trace.Event{Kind: trace.PathUnresolved, Skill: "real", Attrs: []slog.Attr{slog.String(trace.AttrPath, fmt.Sprint("hunter2/", i))}})
			call.End(trace.Event{Kind: trace.ToolCalled, Tool: "skill_read"})
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(c.bodies, ""); !content && strings.Contains(all, "hunter2") || !strings.Contains(all, madeUp) {
			t.Errorf("content %t: a made up name was sent: %.2000s", content, all)
		}
		for name, m := range c.metrics {
			if m.Histogram != nil && len(m.Histogram.Points) > 2 || m.Sum != nil && len(m.Sum.Points) > 2 {
				t.Errorf("content %t: %s has too many series", content, name)
			}
		}
	}
}

// The spans of two programs are of one trace: one begins in a span of another program, and gives its own to a third.
func TestParentOfAnotherProgram(t *testing.T) {
	c := newCollector(t)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" // which is not recorded
	ctx := trace.WithParent(t.Context(), parent)
	for _, name := range []string{"first", "second"} {
		b, end := c.start(t, Options{})
		trace.Emit(ctx, b, trace.Event{Kind: trace.HookRun, Skill: name, Duration: time.Millisecond})
		inner, span := trace.Begin(ctx, b, trace.Event{Kind: trace.ScriptRun, Skill: name})
		span.End(trace.Event{Kind: trace.ScriptRun, Skill: name})
		ctx = trace.WithParent(t.Context(), trace.ParentOf(inner))
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.spans) != 4 {
		t.Fatalf("%d spans", len(c.spans))
	}
	ids := map[string]string{"b7ad6b7169203331": "the caller"}
	var got []string
	for _, s := range c.spans {
		ids[s.SpanID] = s.Name
		got = append(got, s.Name+" < "+ids[s.ParentID])
		if s.TraceID != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is of the trace %s", s.Name, s.TraceID)
		}
	}
	want := []string{"hook_run first < the caller", "script_run first < the caller", "hook_run second < script_run first", "script_run second < script_run first"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
