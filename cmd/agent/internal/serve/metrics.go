package serve

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/telemetry"
)

// Names of metrics as OpenTelemetry has them. Those of Prometheus follow: see promName.
const (
	callsEnded  = "agent.serve.calls"
	callTime    = "agent.serve.call.duration"
	refusals    = "agent.serve.refused"
	callsNow    = "agent.serve.calls.in_flight"
	requestsNow = "agent.serve.requests.in_flight"
	tenantsSeen = "agent.serve.tenants"

	workersNow  = "agent.serve.workers"
	restarts    = "agent.serve.worker.restarts"
	runsEnded   = "agent.serve.runs"
	runFailures = "agent.serve.run.failures"
	runWait     = "agent.serve.run.wait"
	runTime     = "agent.serve.run.duration"
	queueRuns   = "agent.serve.queue.runs"
	queueAge    = "agent.serve.queue.age"
	queueUsed   = "agent.serve.queue.used"
	queueLimit  = "agent.serve.queue.limit"
	runsNow     = "agent.serve.runs.in_flight"
	places      = "agent.serve.places"
	placesFree  = "agent.serve.places.free"
	nodesNow    = "agent.serve.nodes"
)

// family is a metric with its values.
type family struct {
	telemetry.Metric
	labels []string
	fleet  bool               // where the server has workers
	series map[string]*series // by the labels as Prometheus writes them
}

// series is a metric for one set of labels.
type series struct {
	attrs  []string
	n      float64 // the sum, of a histogram
	counts []int   // of a histogram: not above each of its bounds
	all    int     // likewise
}

// families returns the metrics of a server. No label has a text of a client.
func families() map[string]*family {
	out, fleet := map[string]*family{}, false
	add := func(name, unit, about string, labels ...string) *family {
		f := &family{Metric: telemetry.Metric{Name: name, Unit: unit, About: about}, labels: labels, fleet: fleet, series: map[string]*series{}}
		out[name] = f
		return f
	}
	gauge := func(name, unit, about string, labels ...string) { add(name, unit, about, labels...).Gauge = true }
	histogram := func(name, about string, labels ...string) {
		add(name, "s", about, labels...).Bounds = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300}
	}
	add(callsEnded, "{call}", "Calls of tools that have ended.", "tool", "outcome")
	histogram(callTime, "How long calls of tools took.", "tool")
	add(refusals, "{request}", "Requests that were refused, by reason.", "reason")
	gauge(callsNow, "{call}", "Calls of tools that run.")
	gauge(requestsNow, "{request}", "Requests that are under way, also streams.")
	gauge(tenantsSeen, "{tenant}", "Tenants whose skills are open.")
	fleet = true
	gauge(workersNow, "{worker}", "Workers that this server started and that run.")
	add(restarts, "{restart}", "Workers that ended by themselves.")
	add(runsEnded, "{run}", "Runs of the queue that have ended, by how; lost: may have run.", "end")
	add(runFailures, "{run}", "Runs that this server sent and that failed, by the code of the failure.", "error.type")
	histogram(runWait, "How long runs waited for a worker.")
	histogram(runTime, "How long workers had runs.")
	gauge(queueRuns, "{run}", "Runs that no worker has yet, of the whole fleet.", "tenant")
	gauge(queueAge, "s", "For how long one of them waits.")
	gauge(queueUsed, "By", "Bytes that are used of what is set aside for the queue and the claims.", "kept")
	gauge(queueLimit, "By", "Bytes that are set aside for them.", "kept")
	gauge(runsNow, "{run}", "Runs that workers have, of the whole fleet.")
	gauge(places, "{place}", "Places of the workers that take runs, of the whole fleet.")
	gauge(placesFree, "{place}", "Those of them that are free.")
	gauge(nodesNow, "{node}", "Nodes that keep the queue, by whether they are there.", "state")
	for _, f := range out {
		if len(f.labels) == 0 { // it is shown before it has counted
			f.series[""] = &series{counts: make([]int, len(f.Bounds))}
		}
	}
	return out
}

// promName returns the name of a metric that Prometheus has: as OpenTelemetry's specification makes it.
func (f *family) promName() string {
	name := strings.ReplaceAll(f.Name, ".", "_")
	switch f.Unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if !f.Gauge && f.Bounds == nil {
		name += "_total"
	}
	return name
}

// meters has the values of metrics. It is safe for concurrent use.
type meters struct {
	send func(*telemetry.Metric, float64, ...string) // passes on each number

	mu    sync.Mutex
	known map[string]*family
	fleet bool // the server has workers
}

// count adds to a counter or a gauge, or to the observations of a histogram.
func (m *meters) count(name string, n float64, labels ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record(m.known[name], n, true, labels)
}

// set sets the only values of a gauge, by its label; "" for none. Those that it had with other labels are gone.
func (m *meters) set(name string, values map[string]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.known[name]
	for key, s := range f.series {
		if len(s.attrs) > 0 && values[s.attrs[1]] == 0 {
			m.record(f, 0, false, s.attrs[1:])
			delete(f.series, key)
		}
	}
	for label, n := range values {
		m.record(f, n, false, []string{label}[:len(f.labels)])
	}
}

// record changes a value. The caller holds the lock.
func (m *meters) record(f *family, n float64, add bool, labels []string) {
	var key, attrs []string
	for i, label := range f.labels {
		key = append(key, fmt.Sprintf("%s=%q", strings.ReplaceAll(label, ".", "_"), labels[i]))
		attrs = append(attrs, label, labels[i])
	}
	s := f.series[strings.Join(key, ",")]
	if s == nil {
		s = &series{attrs: attrs, counts: make([]int, len(f.Bounds))}
		f.series[strings.Join(key, ",")] = s
	}
	if !add {
		s.n = 0
	}
	s.n += n
	s.all++
	for i, most := range f.Bounds {
		if n <= most {
			s.counts[i]++
		}
	}
	if f.Gauge {
		n = s.n
	}
	m.send(&f.Metric, n, attrs...)
}

// write writes the values as text for Prometheus.
func (m *meters) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.known)) {
		f := m.known[key]
		if f.fleet && !m.fleet {
			continue
		}
		name, kind := f.promName(), "counter"
		switch {
		case f.Gauge:
			kind = "gauge"
		case f.Bounds != nil:
			kind = "histogram"
		}
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, f.About, name, kind)
		for _, labels := range slices.Sorted(maps.Keys(f.series)) {
			s, in := f.series[labels], ""
			if labels != "" {
				in = "{" + labels + "}"
			}
			if f.Bounds == nil {
				fmt.Fprintf(w, "%s%s %.0f\n", name, in, s.n)
				continue
			}
			first := strings.TrimPrefix(labels+",", ",")
			for i, most := range f.Bounds {
				fmt.Fprintf(w, "%s_bucket{%sle=\"%g\"} %d\n", name, first, most, s.counts[i])
			}
			fmt.Fprintf(w, "%s_bucket{%sle=\"+Inf\"} %d\n%s_sum%s %g\n%s_count%s %d\n", name, first, s.all, name, in, s.n, name, in, s.all)
		}
	}
}
