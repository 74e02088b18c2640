package serve

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/internal/fleet/dispatch"
	"github.com/agent-base/agent-base/telemetry"
	"github.com/agent-base/agent-base/trace"
)

// calls counts calls and refusals, and writes a line of the log for each. It is safe for concurrent use.
type calls struct {
	meters
	log *slog.Logger // nil: no log
}

func newCalls(ctx context.Context, s *app.Services) *calls {
	send := func(m *telemetry.Metric, n float64, attrs ...string) { s.Observe.Measure(ctx, m, n, attrs...) }
	return &calls{meters: meters{send: send, known: families()}, log: s.Out.Logger()}
}

// of returns the tracer of the calls for a tenant.
func (c *calls) of(tenant string) trace.Tracer { return &meter{c, tenant} }

// meter is a trace.Spanner: it counts a call that begins.
type meter struct {
	c      *calls
	tenant string
}

// Trace does nothing: what is no step is counted by nobody.
func (m *meter) Trace(context.Context, trace.Event) {}

type toolKey struct{}

// Begin counts a call that begins, with the name of its tool; at its end a toolset's has its own.
func (m *meter) Begin(ctx context.Context, e trace.Event, _ []slog.Attr) context.Context {
	if e.Kind != trace.ToolCalled {
		return ctx
	}
	m.c.count(callsNow, 1)
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
	m.c.count(callsNow, -1)
	m.c.count(callsEnded, 1, name, about[trace.AttrCode])
	m.c.count(callTime, e.Duration.Seconds(), name)
	if m.c.log != nil {
		m.c.log.LogAttrs(ctx, slog.LevelInfo, "call", slog.String("client", trace.IdentityOf(ctx).Agent), slog.String("tenant", m.tenant), slog.String("tool", e.Tool),
			slog.String("outcome", about[trace.AttrCode]), slog.String("reason", about[trace.AttrReason]), slog.Int64("duration_ms", e.Duration.Milliseconds()))
	}
}

// refuse counts a request that was refused, and logs it.
func (c *calls) refuse(r *http.Request, why string) {
	c.count(refusals, 1, why)
	if c.log != nil {
		c.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", slog.String("reason", why), slog.String("from", r.RemoteAddr))
	}
}

// counted counts the requests that are under way: calls, and streams that clients keep open.
func (c *calls) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.count(requestsNow, 1)
		defer c.count(requestsNow, -1)
		next.ServeHTTP(w, r)
	})
}

// runs is a fleet.Meter.
type runs struct{ *meters }

// newRuns returns one, whose metrics are shown from now on.
func newRuns(m *meters) runs {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fleet = true
	return runs{m}
}

func (r runs) Worker(more int)    { r.count(workersNow, float64(more)) }
func (r runs) Restarted()         { r.count(restarts, 1) }
func (r runs) Failed(kind string) { r.count(runFailures, 1, kind) }

func (r runs) Ended(_ *dispatch.Run, e *dispatch.End) {
	r.count(runsEnded, 1, string(e.State))
	if began := e.Began; !began.IsZero() {
		r.count(runWait, began.Sub(e.Queued).Seconds())
		r.count(runTime, time.Since(began).Seconds())
	}
}

// maxTenants is how many tenants a metric names; the others are together in one more.
const maxTenants = 50

func (r runs) Looked(h *fleet.Health) {
	waiting := map[string]float64{}
	for i, tenant := range h.Tenants() {
		name := tenant
		if i >= maxTenants {
			name = "(others)"
		}
		waiting[name] += float64(h.Waiting[tenant])
	}
	r.set(queueRuns, waiting)
	age := 0.0
	if !h.Oldest.IsZero() {
		age = time.Since(h.Oldest).Seconds()
	}
	used, limit := map[string]float64{}, map[string]float64{}
	for what, use := range h.Disk {
		used[what], limit[what] = float64(use.Used), float64(use.Of)
	}
	r.set(queueUsed, used)
	r.set(queueLimit, limit)
	nodes := map[string]float64{"up": 0, "gone": 0}
	for _, n := range h.Nodes {
		if n.Gone {
			nodes["gone"]++
		} else {
			nodes["up"]++
		}
	}
	r.set(nodesNow, nodes)
	free, all := h.Places()
	for name, n := range map[string]float64{queueAge: age, runsNow: float64(h.Running), places: float64(all), placesFree: float64(free)} {
		r.set(name, map[string]float64{"": n})
	}
}
