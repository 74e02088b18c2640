// Package observe chooses who reads the events of the engine: the log of --verbose, the audit log and telemetry.
package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/telemetry"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

// Observers read the events of the engine: the log of --verbose, the audit log and telemetry.
type Observers struct {
	*recorders
	out *output.Printer
}

// recorders are what the observers of all printers share. They are made when the first event may come, so a command without
// events opens nothing.
type recorders struct {
	sys      *setup.System
	settings *setup.Settings

	redact func() func(string) string // made on first use

	once sync.Once
	log  *audit.Log // nil if nothing is recorded
	mode string     // the setting audit

	bridge  *telemetry.Bridge // nil without telemetry
	export  *telemetry.Export // where bridge sends
	refused error             // why there is no telemetry although the settings ask for it
}

// New returns the observers of a run.
func New(sys *setup.System, settings *setup.Settings, out *output.Printer) *Observers {
	return &Observers{out: out, recorders: &recorders{sys: sys, settings: settings,
		redact: sync.OnceValue(func() func(string) string { return setup.Redactor(sys.Environ) })}}
}

// To returns the same observers printing to another printer.
func (o *Observers) To(out *output.Printer) *Observers {
	return &Observers{recorders: o.recorders, out: out}
}

func (r *recorders) begin() {
	r.once.Do(func() {
		cfg := r.settings.Config()
		r.mode = cfg.Audit
		dir := cfg.Paths.Audit()
		record, send := dir != "" && r.mode != "off", cfg.Telemetry == "otlp"
		if !record && !send {
			return
		}
		redact := r.redact()
		if record {
			r.log = audit.New(&audit.Options{Dir: dir, NoUsage: cfg.Usage == "off", Redact: redact})
		}
		if send {
			r.refused = r.connect(redact)
		}
	})
}

// connect makes the bridge to a collector.
func (r *recorders) connect(redact func(string) string) error {
	if strings.EqualFold(r.sys.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil
	}
	o, err := telemetry.OptionsFrom(r.sys.Getenv)
	if err != nil {
		return err
	}
	if o.Resource["service.version"] == "" {
		o.Resource["service.version"] = setup.Version
	}
	export, err := telemetry.Start(o)
	if err != nil {
		return err
	}
	content := strings.EqualFold(r.sys.Getenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"), "true")
	r.bridge, err = telemetry.New(&telemetry.Options{Tracer: export.Tracer(), Meter: export.Meter(), Content: content, Redact: redact})
	r.export = export
	return err
}

// Telemetry returns the tracer of events that only telemetry reads, or nil.
func (o *Observers) Telemetry() trace.Tracer {
	if o.begin(); o.bridge == nil {
		return nil
	}
	return o.bridge
}

// Measure records a number of a metric, see telemetry.Export. It does nothing without telemetry.
func (o *Observers) Measure(ctx context.Context, m *telemetry.Metric, n float64, attrs ...string) {
	if o.begin(); o.export != nil {
		o.export.Record(ctx, m, n, attrs...)
	}
}

// Tracer returns the tracer of the engine's events, or nil if nobody reads them.
func (o *Observers) Tracer() trace.Tracer {
	o.begin()
	var readers []trace.Tracer
	if shown := o.out.Tracer(); shown != nil {
		readers = append(readers, redacted(shown, o.redact()))
	}
	if o.log != nil {
		readers = append(readers, o.log)
	}
	if o.bridge != nil {
		readers = append(readers, o.bridge)
	}
	switch len(readers) {
	case 0:
		return nil
	case 1:
		return o.forTenant(readers[0])
	}
	return o.forTenant(trace.Tee(readers...))
}

// forTenant returns a tracer that gets the events with the tenant that the user set.
func (r *recorders) forTenant(next trace.Tracer) trace.Tracer {
	if r.settings.Config().Tenant == "" {
		return next
	}
	return trace.TracerFunc(func(ctx context.Context, e trace.Event) { next.Trace(r.tenant(ctx), e) })
}

// tenant returns a context in which steps are taken for the tenant that the user set.
func (r *recorders) tenant(ctx context.Context) context.Context {
	return trace.WithIdentity(ctx, trace.Identity{Tenant: r.settings.Config().Tenant})
}

// redacted returns a tracer that gets the events without known secrets, and without what looks like a key, in their texts.
func redacted(next trace.Tracer, known func(string) string) trace.Tracer {
	clean := func(text string) string { return redact.Shapes(known(text)) }
	return trace.TracerFunc(func(ctx context.Context, e trace.Event) {
		e.Message = clean(e.Message)
		if e.Err != nil {
			e.Err = &cleanError{clean(e.Err.Error()), e.Err}
		}
		e.Attrs = slices.Clone(e.Attrs)
		for i, a := range e.Attrs {
			if a.Value.Kind() == slog.KindString {
				e.Attrs[i].Value = slog.StringValue(clean(a.Value.String()))
			}
		}
		next.Trace(ctx, e)
	})
}

// cleanError is an error whose text has no secrets.
type cleanError struct {
	text string
	err  error
}

// Error returns the text.
func (e *cleanError) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *cleanError) Unwrap() error { return e.err }

// errNoAuditHome is the reason why nothing can be recorded without a home.
var errNoAuditHome = errors.New("there is no home directory for the audit log, and the setting audit is required")

// Guard records a step that is about to begin. With the setting audit: required, it returns an error if that cannot be done.
func (o *Observers) Guard(ctx context.Context, e trace.Event) error {
	log, err := o.required()
	if log == nil {
		return err
	}
	return log.Guard(o.tenant(ctx), e)
}

// required returns the log if the setting audit is required, and an error if there is none then.
func (o *Observers) required() (*audit.Log, error) {
	if o.begin(); o.mode != "required" {
		return nil, nil
	}
	if o.log == nil {
		return nil, errNoAuditHome
	}
	return o.log, nil
}

// Record records a decision of the user that is about to take effect. With the setting audit: required, it returns an error
// if that cannot be done.
func (o *Observers) Record(ctx context.Context, e trace.Event) error {
	if o.begin(); o.mode == "required" {
		return o.Guard(ctx, e)
	}
	trace.Emit(ctx, o.Tracer(), e)
	return nil
}

// Text returns the record of a decision, for the log of a fleet.
func (o *Observers) Text(ctx context.Context, e trace.Event) ([]byte, error) {
	return audit.Text(o.tenant(ctx), &e, o.redact())
}

// Runner returns next, or with the setting audit: required a runner that starts nothing while events cannot be recorded.
func (o *Observers) Runner(next runner.Runner) runner.Runner {
	if o.begin(); o.mode != "required" {
		return next
	}
	return runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		if err := o.Recording(); err != nil {
			return nil, err
		}
		return next.Run(ctx, c)
	})
}

// Recording returns an error if nothing may start, because with the setting audit: required events cannot be recorded.
func (o *Observers) Recording() error {
	log, err := o.required()
	if log == nil {
		return err
	}
	_, err = log.Failure() // the start of a script is an event before it
	return err
}

// closing is how long the end of the command waits for a collector.
const closing = 3 * time.Second

// Close sends what telemetry has not sent yet. It returns an error if events were not recorded although they must be, and
// otherwise warns about what was lost.
func (o *Observers) Close(ctx context.Context) error {
	if o.export != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		o.refused = errors.Join(o.refused, o.export.Close(ctx))
	}
	if o.refused != nil {
		o.out.Warn("telemetry: " + o.refused.Error())
	}
	return o.recorded()
}

func (o *Observers) recorded() error {
	if o.log == nil { // nothing was observed, or nothing is recorded
		return nil
	}
	lost, err := o.log.Failure()
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(o.settings.Config().Paths.Audit()); missing != nil && o.mode != "required" {
		return nil // the home cannot be written at all, which doctor reports
	}
	err = fmt.Errorf("%s not recorded: %w", output.Count(int(lost), "event"), err)
	if o.mode == "required" {
		return &failure.Error{Exit: failure.ExitFailure, Code: "audit", Hint: "agent doctor shows the settings", Err: err}
	}
	o.out.Warn(err.Error())
	return nil
}
