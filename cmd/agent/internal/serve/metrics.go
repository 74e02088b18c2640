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

// meters has metrics with their values. It is safe for concurrent use.
type meters struct {
	send func(*telemetry.Metric, float64, ...string) // passes on each number

	mu  sync.Mutex
	all []*family // in the order in which they are shown
}

// family is a metric with its values.
type family struct {
	telemetry.Metric
	of     *meters
	name   string // that Prometheus has
	labels []string
	series map[string]*series // by the labels as Prometheus writes them, a comma before each
}

// series is a metric for one set of labels.
type series struct {
	attrs  []string
	n      float64 // the sum, of a histogram
	counts []int   // of a histogram: not above each of its bounds
	all    int     // likewise
}

// counter adds a counter. Its name is that of OpenTelemetry. No label has a text of a client.
func (m *meters) counter(name, unit, about string, labels ...string) *family {
	return m.add(telemetry.Metric{Name: name, Unit: unit, About: about}, labels)
}

func (m *meters) gauge(name, unit, about string, labels ...string) *family {
	return m.add(telemetry.Metric{Name: name, Unit: unit, About: about, Gauge: true}, labels)
}

func (m *meters) histogram(name, about string, labels ...string) *family {
	return m.add(telemetry.Metric{Name: name, Unit: "s", About: about, Bounds: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300}}, labels)
}

func (m *meters) add(about telemetry.Metric, labels []string) *family {
	f := &family{Metric: about, of: m, name: strings.ReplaceAll(about.Name, ".", "_"), labels: labels, series: map[string]*series{}}
	f.name += map[string]string{"s": "_seconds", "By": "_bytes"}[f.Unit] // as OpenTelemetry's specification makes it
	if f.kind() == "counter" {
		f.name += "_total"
	}
	if len(labels) == 0 { // it is shown before it has counted
		f.series[""] = &series{counts: make([]int, len(f.Bounds))}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, f)
	return f
}

// kind returns what Prometheus calls the metric.
func (f *family) kind() string {
	switch {
	case f.Gauge:
		return "gauge"
	case f.Bounds != nil:
		return "histogram"
	}
	return "counter"
}

// count adds to a counter or a gauge, or to the observations of a histogram.
func (f *family) count(n float64, labels ...string) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.record(n, true, labels)
}

// set sets the only values of a gauge, by its label; "" for none. Those that it had with other labels are gone.
func (f *family) set(values map[string]float64) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	for key, s := range f.series {
		if len(s.attrs) > 0 && values[s.attrs[1]] == 0 {
			f.record(0, false, s.attrs[1:])
			delete(f.series, key)
		}
	}
	for label, n := range values {
		f.record(n, false, []string{label}[:len(f.labels)])
	}
}

// record changes a value. The caller holds the lock.
func (f *family) record(n float64, add bool, labels []string) {
	var attrs []string
	key := ""
	for i, label := range f.labels {
		key += fmt.Sprintf(",%s=%q", strings.ReplaceAll(label, ".", "_"), labels[i])
		attrs = append(attrs, label, labels[i])
	}
	s := f.series[key]
	if s == nil {
		s = &series{attrs: attrs, counts: make([]int, len(f.Bounds))}
		f.series[key] = s
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
	f.of.send(&f.Metric, n, attrs...)
}

// write writes the values as text for Prometheus.
func (m *meters) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.all {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.About, f.name, f.kind())
		for _, labels := range slices.Sorted(maps.Keys(f.series)) {
			s, in := f.series[labels], ""
			if labels != "" {
				in = "{" + labels[1:] + "}"
			}
			if f.Bounds == nil {
				fmt.Fprintf(w, "%s%s %.0f\n", f.name, in, s.n)
				continue
			}
			bucket := func(most string, n int) {
				fmt.Fprintf(w, "%s_bucket{%s} %d\n", f.name, strings.TrimPrefix(labels+`,le="`+most+`"`, ","), n)
			}
			for i, most := range f.Bounds {
				bucket(fmt.Sprint(most), s.counts[i])
			}
			bucket("+Inf", s.all)
			fmt.Fprintf(w, "%s_sum%s %g\n%s_count%s %d\n", f.name, in, s.n, f.name, in, s.all)
		}
	}
}
