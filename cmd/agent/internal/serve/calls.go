package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/telemetry"
	"github.com/agent-base/agent-base/trace"
)

// calls counts calls and refusals, and writes a line of the log for each. It is safe for concurrent use.
type calls struct {
	meters
	ended, took, refused, running, requests, tenants *family

	log *slog.Logger // nil: no log
}

func newCalls(ctx context.Context, s *app.Services) *calls {
	c := &calls{log: s.Out.Logger()}
	c.send = func(m *telemetry.Metric, n float64, attrs ...string) { s.Observe.Measure(ctx, m, n, attrs...) }
	c.ended = c.counter("agent.serve.calls", "{call}", "Calls of tools that have ended.", "tool", "outcome")
	c.took = c.histogram("agent.serve.call.duration", "How long calls of tools took.", "tool")
	c.refused = c.counter("agent.serve.refused", "{request}", "Requests that were refused, by reason.", "reason")
	c.running = c.gauge("agent.serve.calls.in_flight", "{call}", "Calls of tools that run.")
	c.requests = c.gauge("agent.serve.requests.in_flight", "{request}", "Requests that are under way, also streams.")
	c.tenants = c.gauge("agent.serve.tenants", "{tenant}", "Tenants whose skills are open.")
	return c
}

// of returns the tracer of the calls for a tenant.
func (c *calls) of(tenant string) trace.Tracer { return &meter{c, tenant} }

// meter is a trace.Spanner: it counts a call that begins.
type meter struct {
	c      *calls
	tenant string
}

// Trace does nothing: only steps are counted.
func (m *meter) Trace(context.Context, trace.Event) {}

type toolKey struct{}

// Begin counts a call that begins, with the name of its tool; at its end a toolset's has its own.
func (m *meter) Begin(ctx context.Context, e trace.Event, _ []slog.Attr) context.Context {
	if e.Kind != trace.ToolCalled {
		return ctx
	}
	m.c.running.count(1)
	return context.WithValue(ctx, toolKey{}, e.Tool)
}

// End counts a call that has ended, and logs it.
func (m *meter) End(ctx context.Context, e trace.Event, _ []slog.Attr) {
	name, ok := ctx.Value(toolKey{}).(string)
	if !ok || e.Kind != trace.ToolCalled && e.Kind != trace.ToolDenied {
		return
	}
	about := map[string]string{trace.AttrCode: "ok"}
	for _, a := range e.Attrs {
		if a.Key == trace.AttrCode || a.Key == trace.AttrReason {
			about[a.Key] = a.Value.String()
		}
	}
	m.c.running.count(-1)
	m.c.ended.count(1, name, about[trace.AttrCode])
	m.c.took.count(e.Duration.Seconds(), name)
	if m.c.log != nil {
		m.c.log.LogAttrs(ctx, slog.LevelInfo, "call", slog.String("client", trace.IdentityOf(ctx).Agent), slog.String("tenant", m.tenant), slog.String("tool", e.Tool),
			slog.String("outcome", about[trace.AttrCode]), slog.String("reason", about[trace.AttrReason]), slog.Int64("duration_ms", e.Duration.Milliseconds()))
	}
}

// refuse counts a request that was refused, and logs it.
func (c *calls) refuse(r *http.Request, why string) {
	c.refused.count(1, why)
	if c.log != nil {
		c.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", slog.String("reason", why), slog.String("from", r.RemoteAddr))
	}
}

// counted counts the requests that are under way: calls, and streams that clients keep open.
func (c *calls) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.count(1)
		defer c.requests.count(-1)
		next.ServeHTTP(w, r)
	})
}

// runs is a fleet.Meter.
type runs struct {
	workers, restarts, ended, failures, wait, took                *family
	waiting, age, used, limit, running, places, placesFree, nodes *family
}

// newRuns adds the metrics of a server that has workers.
func newRuns(m *meters) *runs {
	return &runs{
		workers:    m.gauge("agent.serve.workers", "{worker}", "Workers that this server started and that run."),
		restarts:   m.counter("agent.serve.worker.restarts", "{restart}", "Workers that ended by themselves."),
		ended:      m.counter("agent.serve.runs", "{run}", "Runs of the queue that have ended, by how; lost: may have run.", "end"),
		failures:   m.counter("agent.serve.run.failures", "{run}", "Runs that this server sent and that failed, by the code of the failure.", "error.type"),
		wait:       m.histogram("agent.serve.run.wait", "How long runs waited for a worker."),
		took:       m.histogram("agent.serve.run.duration", "How long workers had runs."),
		waiting:    m.gauge("agent.serve.queue.runs", "{run}", "Runs that no worker has yet, of the whole fleet.", "tenant"),
		age:        m.gauge("agent.serve.queue.age", "s", "For how long one of them waits."),
		used:       m.gauge("agent.serve.queue.used", "By", "Bytes that are used of what is set aside for the queue and the claims.", "kept"),
		limit:      m.gauge("agent.serve.queue.limit", "By", "Bytes that are set aside for them.", "kept"),
		running:    m.gauge("agent.serve.runs.in_flight", "{run}", "Runs that workers have, of the whole fleet."),
		places:     m.gauge("agent.serve.places", "{place}", "Places of the workers that take runs, of the whole fleet."),
		placesFree: m.gauge("agent.serve.places.free", "{place}", "Those of them that are free."),
		nodes:      m.gauge("agent.serve.nodes", "{node}", "Nodes that keep the queue, by whether they are there.", "state"),
	}
}

func (r *runs) Worker(more int)    { r.workers.count(float64(more)) }
func (r *runs) Restarted()         { r.restarts.count(1) }
func (r *runs) Failed(kind string) { r.failures.count(1, kind) }

func (r *runs) Ended(e *dispatch.RunView) {
	r.ended.count(1, string(e.State))
	if !e.Began.IsZero() {
		r.wait.count(e.Began.Sub(e.Queued).Seconds())
		r.took.count(e.Ended.Sub(e.Began).Seconds())
	}
}

// maxTenants is how many tenants a metric names; the others are together in one more.
const maxTenants = 50

func (r *runs) Looked(v *dispatch.View) {
	waiting, used, limit := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i, tenant := range v.Tenants() {
		name := tenant
		if i >= maxTenants {
			name = "(others)"
		}
		waiting[name] += float64(v.Waiting[tenant])
	}
	for what, use := range v.Disk {
		used[what], limit[what] = float64(use.Used), float64(use.Of)
	}
	age, gone := 0.0, 0
	for _, n := range v.Nodes {
		if n.Gone {
			gone++
		}
	}
	if !v.Oldest.IsZero() {
		age = time.Since(v.Oldest).Seconds()
	}
	free, places := v.Places()
	for f, values := range map[*family]map[string]float64{
		r.waiting: waiting, r.used: used, r.limit: limit, r.nodes: {"up": float64(len(v.Nodes) - gone), "gone": float64(gone)},
		r.age: {"": age}, r.running: {"": float64(v.Running)}, r.places: {"": float64(places)}, r.placesFree: {"": float64(free)},
	} {
		f.set(values)
	}
}
