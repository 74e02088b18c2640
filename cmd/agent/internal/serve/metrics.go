package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/trace"
)

// bounds are those of the histogram of durations, in seconds.
var bounds = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

// calls counts calls and refusals, and writes a line of the log for each. It is safe for concurrent use.
type calls struct {
	log *slog.Logger // nil: no log

	mu       sync.Mutex
	ended    map[outcome]int
	took     map[string]*histogram // by tool
	refused  map[string]int        // by reason
	running  int
	requests int
}

type outcome struct{ tool, result string }

type histogram struct {
	counts []int // not above each of bounds
	sum    float64
	n      int
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
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	m.c.running++
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
	m.c.end(outcome{name, about[trace.AttrCode]}, e.Duration)
	if m.c.log != nil {
		m.c.log.LogAttrs(ctx, slog.LevelInfo, "call", slog.String("client", trace.IdentityOf(ctx).Agent), slog.String("tenant", m.tenant), slog.String("tool", e.Tool),
			slog.String("outcome", about[trace.AttrCode]), slog.String("reason", about[trace.AttrReason]), slog.Int64("duration_ms", e.Duration.Milliseconds()))
	}
}

func (c *calls) end(o outcome, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.ended[o]++
	h := c.took[o.tool]
	if h == nil {
		h = &histogram{counts: make([]int, len(bounds))}
		c.took[o.tool] = h
	}
	h.n, h.sum = h.n+1, h.sum+took.Seconds()
	for i, most := range bounds {
		if took.Seconds() <= most {
			h.counts[i]++
		}
	}
}

// refuse counts a request that was refused, and logs it.
func (c *calls) refuse(r *http.Request, why string) {
	c.mu.Lock()
	c.refused[why]++
	c.mu.Unlock()
	if c.log != nil {
		c.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", slog.String("reason", why), slog.String("from", r.RemoteAddr))
	}
}

// counted counts the requests that are under way: calls, and streams that clients keep open.
func (c *calls) counted(next http.Handler) http.Handler {
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests += n
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		add(1)
		defer add(-1)
		next.ServeHTTP(w, r)
	})
}

// headTo returns what writes the lines before a metric.
func headTo(w io.Writer) func(name, kind, help string) {
	return func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
}

// writeFleet writes the counts of the workers.
func writeFleet(w io.Writer, s fleet.Stats) {
	head := headTo(w)
	head("agent_serve_workers", "gauge", "Workers that run.")
	fmt.Fprintf(w, "agent_serve_workers %d\n", s.Workers)
	head("agent_serve_worker_restarts_total", "counter", "Workers that ended by themselves.")
	fmt.Fprintf(w, "agent_serve_worker_restarts_total %d\n", s.Restarts)
	head("agent_serve_runs_total", "counter", "Runs of the queue that have ended, by how; lost: may have run.")
	for _, how := range slices.Sorted(maps.Keys(s.Runs)) {
		fmt.Fprintf(w, "agent_serve_runs_total{end=%q} %d\n", how, s.Runs[how])
	}
}

// write writes the counts as text for Prometheus. No label has a text of a client.
func (c *calls) write(w io.Writer, tenants int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := headTo(w)
	head("agent_serve_calls_total", "counter", "Calls of tools that have ended.")
	for _, o := range slices.SortedFunc(maps.Keys(c.ended), func(a, b outcome) int { return slices.Compare([]string{a.tool, a.result}, []string{b.tool, b.result}) }) {
		fmt.Fprintf(w, "agent_serve_calls_total{tool=%q,outcome=%q} %d\n", o.tool, o.result, c.ended[o])
	}
	head("agent_serve_call_duration_seconds", "histogram", "How long calls of tools took.")
	for _, name := range slices.Sorted(maps.Keys(c.took)) {
		h := c.took[name]
		for i, most := range bounds {
			fmt.Fprintf(w, "agent_serve_call_duration_seconds_bucket{tool=%q,le=\"%g\"} %d\n", name, most, h.counts[i])
		}
		fmt.Fprintf(w, "agent_serve_call_duration_seconds_bucket{tool=%q,le=\"+Inf\"} %d\nagent_serve_call_duration_seconds_sum{tool=%q} %g\nagent_serve_call_duration_seconds_count{tool=%q} %d\n",
			name, h.n, name, h.sum, name, h.n)
	}
	head("agent_serve_refused_total", "counter", "Requests that were refused, by reason.")
	for _, why := range slices.Sorted(maps.Keys(c.refused)) {
		fmt.Fprintf(w, "agent_serve_refused_total{reason=%q} %d\n", why, c.refused[why])
	}
	for _, g := range []struct {
		name, help string
		n          int
	}{{"calls_in_flight", "Calls of tools that run.", c.running}, {"requests_in_flight", "Requests that are under way, also streams.", c.requests}, {"tenants", "Tenants whose skills are open.", tenants}} {
		head("agent_serve_"+g.name, "gauge", g.help)
		fmt.Fprintf(w, "agent_serve_%s %d\n", g.name, g.n)
	}
}
