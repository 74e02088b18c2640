package telemetry

import (
	"context"
	"strconv"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// metricExporter sends metrics, as sums since the start.
type metricExporter struct{ e *Export }

// cumulative is the temporality of all metrics, as OTLP has it.
const cumulative = 2

type metricsJSON struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resourceJSON   `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scopeJSON    `json:"scope"`
	Metrics []metricJSON `json:"metrics"`
}

type metricJSON struct {
	Name        string     `json:"name"`
	Description string     `json:"description,omitempty"`
	Unit        string     `json:"unit,omitempty"`
	Sum         *points    `json:"sum,omitempty"`
	Gauge       *points    `json:"gauge,omitempty"`
	Histogram   *histogram `json:"histogram,omitempty"`
}

type points struct {
	Points      []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality,omitempty"`
	Monotonic   bool    `json:"isMonotonic,omitempty"`
}

type point struct {
	Attributes []keyValue `json:"attributes"`
	Start      string     `json:"startTimeUnixNano,omitempty"`
	Time       string     `json:"timeUnixNano"`
	Int        string     `json:"asInt"`
}

type histogram struct {
	Points      []histogramPoint `json:"dataPoints"`
	Temporality int              `json:"aggregationTemporality"`
}

type histogramPoint struct {
	Attributes []keyValue `json:"attributes"`
	Start      string     `json:"startTimeUnixNano"`
	Time       string     `json:"timeUnixNano"`
	Count      string     `json:"count"`
	Sum        float64    `json:"sum"`
	Counts     []string   `json:"bucketCounts"`
	Bounds     []float64  `json:"explicitBounds"`
}

// Temporality returns the sum since the start.
func (x *metricExporter) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

// Aggregation returns that of the SDK.
func (x *metricExporter) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}

// Export sends the metrics. Kinds that this package does not make are left out.
func (x *metricExporter) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	out := resourceMetrics{Resource: resourceOf(all.Resource), ScopeMetrics: []scopeMetrics{}}
	for _, s := range all.ScopeMetrics {
		list := scopeMetrics{Scope: scopeJSON{s.Scope.Name}}
		for _, m := range s.Metrics {
			list.Metrics = append(list.Metrics, metricOf(m))
		}
		out.ScopeMetrics = append(out.ScopeMetrics, list)
	}
	if len(out.ScopeMetrics) == 0 {
		return nil
	}
	return x.e.post(ctx, x.e.metrics, metricsJSON{[]resourceMetrics{out}})
}

// ForceFlush does nothing: Export sends at once.
func (x *metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown does nothing: Export.Close ends the connections.
func (x *metricExporter) Shutdown(context.Context) error { return nil }

func metricOf(m metricdata.Metrics) metricJSON {
	out := metricJSON{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		out.Sum = &points{Points: pointsOf(data.DataPoints), Temporality: cumulative, Monotonic: data.IsMonotonic}
	case metricdata.Gauge[int64]:
		out.Gauge = &points{Points: pointsOf(data.DataPoints)}
	case metricdata.Histogram[int64]:
		out.Histogram = histogramOf(data)
	case metricdata.Histogram[float64]:
		out.Histogram = histogramOf(data)
	}
	return out
}

func pointsOf(all []metricdata.DataPoint[int64]) []point {
	out := make([]point, 0, len(all))
	for _, p := range all {
		one := point{Attributes: attributesOf(p.Attributes.ToSlice()), Time: nanos(p.Time), Int: strconv.FormatInt(p.Value, 10)}
		if !p.StartTime.IsZero() {
			one.Start = nanos(p.StartTime)
		}
		out = append(out, one)
	}
	return out
}

func histogramOf[N int64 | float64](h metricdata.Histogram[N]) *histogram {
	out := &histogram{Temporality: cumulative}
	for _, p := range h.DataPoints {
		one := histogramPoint{Attributes: attributesOf(p.Attributes.ToSlice()), Start: nanos(p.StartTime), Time: nanos(p.Time),
			Count: strconv.FormatUint(p.Count, 10), Sum: float64(p.Sum), Bounds: p.Bounds}
		for _, n := range p.BucketCounts {
			one.Counts = append(one.Counts, strconv.FormatUint(n, 10))
		}
		out.Points = append(out.Points, one)
	}
	return out
}
