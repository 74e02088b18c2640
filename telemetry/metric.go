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
	var all []attribute.KeyValue
	for pair := range slices.Chunk(attrs, 2) {
		all = append(all, attribute.String(pair[0], pair[1]))
	}
	with := metric.WithAttributes(all...)
	of, unit, about := e.meter.Meter(scope), metric.WithUnit(m.Unit), metric.WithDescription(m.About)
	switch { // the SDK keeps instruments by their names; one with a wrong name records as well
	case m.Bounds != nil:
		h, _ := of.Float64Histogram(m.Name, unit, about, metric.WithExplicitBucketBoundaries(m.Bounds...))
		h.Record(ctx, n, with)
	case m.Gauge:
		g, _ := of.Int64Gauge(m.Name, unit, about)
		g.Record(ctx, int64(n), with)
	default:
		c, _ := of.Int64Counter(m.Name, unit, about)
		c.Add(ctx, int64(n), with)
	}
}
