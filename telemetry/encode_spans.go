package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spanExporter sends spans.
type spanExporter struct{ e *Export }

type tracesJSON struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resourceJSON `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scopeJSON  `json:"scope"`
	Spans []spanJSON `json:"spans"`
}

type spanJSON struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"` // as in the SDK: 1 internal, 3 client
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []keyValue  `json:"attributes"`
	Events     []eventJSON `json:"events,omitempty"`
	Status     statusJSON  `json:"status"`
}

type eventJSON struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []keyValue `json:"attributes"`
}

type statusJSON struct {
	Code    int    `json:"code,omitempty"` // 1 ok, 2 error
	Message string `json:"message,omitempty"`
}

// ExportSpans sends ended spans. All of them are of one resource and one scope.
func (x *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	list := make([]spanJSON, len(spans))
	for i, s := range spans {
		list[i] = spanOf(s)
	}
	one := resourceSpans{Resource: resourceOf(spans[0].Resource()), ScopeSpans: []scopeSpans{{scopeJSON{scope}, list}}}
	return x.e.post(ctx, x.e.traces, tracesJSON{[]resourceSpans{one}})
}

// Shutdown does nothing: Export.Close ends the connections.
func (x *spanExporter) Shutdown(context.Context) error { return nil }

func spanOf(s sdktrace.ReadOnlySpan) spanJSON {
	out := spanJSON{TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: attributesOf(s.Attributes())}
	if s.Parent().HasSpanID() {
		out.ParentID = s.Parent().SpanID().String()
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, eventJSON{nanos(e.Time), e.Name, attributesOf(e.Attributes)})
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = 1
	case codes.Error:
		out.Status = statusJSON{2, s.Status().Description}
	}
	return out
}
