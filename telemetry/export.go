package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// What an option is when it is not set.
const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	defaultInterval = time.Minute
)

// ExportOptions says where spans and metrics are sent: as OTLP in JSON over HTTP. The zero value sends to http://localhost:4318.
type ExportOptions struct {
	Endpoint string // base address of a collector, to which /v1/traces and /v1/metrics are added
	Traces   string // whole address for spans; "" means that below Endpoint
	Metrics  string // whole address for metrics; "" means that below Endpoint
	Headers  map[string]string
	Resource map[string]string // attributes of this program: service.name and others

	Timeout  time.Duration // of one request; 0 means 10 s
	Interval time.Duration // between two reports of metrics; 0 means a minute
}

// OptionsFrom reads the standard variables: OTEL_EXPORTER_OTLP_ENDPOINT, …_TRACES_ENDPOINT, …_METRICS_ENDPOINT, …_HEADERS,
// …_TIMEOUT, OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. The error names a variable that
// cannot be used.
func OptionsFrom(getenv func(string) string) (*ExportOptions, error) {
	o := &ExportOptions{Endpoint: getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), Traces: getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
		Metrics: getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")}
	if p := getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/json" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; only http/json is spoken here, which collectors take at port 4318", p)
	}
	var err error
	if o.Headers, err = pairs(getenv("OTEL_EXPORTER_OTLP_HEADERS")); err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	if o.Resource, err = pairs(getenv("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		o.Resource["service.name"] = name
	}
	for variable, to := range map[string]*time.Duration{"OTEL_EXPORTER_OTLP_TIMEOUT": &o.Timeout, "OTEL_METRIC_EXPORT_INTERVAL": &o.Interval} {
		if text := getenv(variable); text != "" {
			if *to, err = time.ParseDuration(text + "ms"); err != nil || *to <= 0 {
				return nil, fmt.Errorf("%s: %q is not a number of milliseconds", variable, text)
			}
		}
	}
	return o, nil
}

// pairs reads "key=value,key=value", where values are percent-encoded.
func pairs(text string) (map[string]string, error) {
	out := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, errors.New("it is not a list of key=value") // the text may hold a key
		}
		out[strings.TrimSpace(key)] = value
	}
	return out, nil
}

// Export sends spans and metrics to a collector.
type Export struct {
	o       ExportOptions
	client  *http.Client
	tracer  tracerProvider
	meter   meterProvider
	traces  string
	metrics string

	mu     sync.Mutex
	failed error // the last request that failed
}

// tracerProvider and meterProvider are what Export needs of the SDK's providers. With their own types in Export, the
// compiler would compile the SDK's generic code again in every package that uses an Export.
type (
	tracerProvider interface {
		oteltrace.TracerProvider
		Shutdown(ctx context.Context) error
	}
	meterProvider interface {
		metric.MeterProvider
		Shutdown(ctx context.Context) error
	}
)

// Start returns an Export; nil options mean the zero value. It sends nothing before there is something to send. The error says
// which address is invalid.
func Start(o *ExportOptions) (*Export, error) {
	if o == nil {
		o = &ExportOptions{}
	}
	e := &Export{o: *o}
	e.o.Timeout, e.o.Interval = cmp.Or(e.o.Timeout, defaultTimeout), cmp.Or(e.o.Interval, defaultInterval)
	base := strings.TrimRight(cmp.Or(e.o.Endpoint, defaultEndpoint), "/")
	e.traces, e.metrics = cmp.Or(e.o.Traces, base+"/v1/traces"), cmp.Or(e.o.Metrics, base+"/v1/metrics")
	for _, address := range []string{e.traces, e.metrics} {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("the address of the collector is not one of http or https")
		}
	}
	e.client = &http.Client{Transport: &http.Transport{}, Timeout: e.o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the headers are for one address
	res := resource.NewSchemaless(e.resource()...)
	e.tracer = sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(&spanExporter{e}),
		sdktrace.WithSampler(sdktrace.AlwaysSample())) // no caller has its calls left out
	e.meter = sdkmetric.NewMeterProvider(sdkmetric.WithResource(res),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&metricExporter{e}, sdkmetric.WithInterval(e.o.Interval))))
	return e, nil
}

func (e *Export) resource() []attribute.KeyValue {
	all := map[string]string{"service.name": "agent-base"}
	maps.Copy(all, e.o.Resource)
	var out []attribute.KeyValue
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, attribute.String(key, all[key]))
	}
	return out
}

// Tracer returns the provider of spans.
func (e *Export) Tracer() oteltrace.TracerProvider { return e.tracer }

// Meter returns the provider of metrics.
func (e *Export) Meter() metric.MeterProvider { return e.meter }

// Close sends what is left and stops. It waits until ctx is done. The error says what could not be sent, also earlier.
func (e *Export) Close(ctx context.Context) error {
	err := errors.Join(e.tracer.Shutdown(ctx), e.meter.Shutdown(ctx))
	e.client.CloseIdleConnections()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil {
		return e.failed
	}
	return err
}

// maxReply is how many bytes of a collector's answer are read.
const maxReply = 64 << 10

// post sends a document. It keeps the error, since the SDK drops it.
func (e *Export) post(ctx context.Context, address string, document any) error {
	err := e.send(ctx, address, document)
	if err != nil {
		e.mu.Lock()
		e.failed = err
		e.mu.Unlock()
	}
	return err
}

func (e *Export) send(ctx context.Context, address string, document any) error {
	body, err := json.Marshal(document)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("invalid address of the collector")
	}
	for key, value := range e.o.Headers {
		r.Header.Set(key, value)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // without the address, which may hold a password
			err = u.Err
		}
		return fmt.Errorf("send to the collector at %s: %w", r.URL.Host, err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxReply))
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector at %s answered %s", r.URL.Host, resp.Status)
	}
	return nil
}
