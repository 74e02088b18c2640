package telemetry

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Metric is a metric of the program's own, besides those of a Bridge. It is a counter unless it is something else.
type Metric struct {
	Name, Unit, About string // as OpenTelemetry has them

	Gauge  bool      // its value goes up and down
	Bounds []float64 // those of a histogram; nil for something else
}

// Record records a number of a metric: what a counter grows by, the value of a gauge, or one observation of a histogram. attrs are keys, each
// followed by its value. Counters and gauges have whole numbers.
func (e *Export) Record(ctx context.Context, m *Metric, n float64, attrs ...string) {
	e.mu.Lock()
	record := e.own[m.Name]
	if record == nil {
		if e.own == nil {
			e.own = map[string]recorder{}
		}
		record = m.recorder(e.meter.Meter(scope))
		e.own[m.Name] = record
	}
	e.mu.Unlock()
	var all []attribute.KeyValue
	for pair := range slices.Chunk(attrs, 2) {
		all = append(all, attribute.String(pair[0], pair[1]))
	}
	record(ctx, n, metric.WithAttributes(all...))
}

// recorder records numbers of one metric.
type recorder func(context.Context, float64, metric.MeasurementOption)

func (m *Metric) recorder(of metric.Meter) recorder {
	unit, about := metric.WithUnit(m.Unit), metric.WithDescription(m.About)
	switch { // an instrument with a wrong name records as well
	case m.Bounds != nil:
		h, _ := of.Float64Histogram(m.Name, unit, about, metric.WithExplicitBucketBoundaries(m.Bounds...))
		return func(ctx context.Context, n float64, o metric.MeasurementOption) { h.Record(ctx, n, o) }
	case m.Gauge:
		g, _ := of.Int64Gauge(m.Name, unit, about)
		return func(ctx context.Context, n float64, o metric.MeasurementOption) { g.Record(ctx, int64(n), o) }
	}
	c, _ := of.Int64Counter(m.Name, unit, about)
	return func(ctx context.Context, n float64, o metric.MeasurementOption) { c.Add(ctx, int64(n), o) }
}
