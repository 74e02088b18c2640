package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// Executor calls tools. The zero value has none.
type Executor struct {
	Tools *Set // nil means none
	// Check, if set, may deny a call before it happens. It gets the arguments that the tool would get, and decides at that
	// moment: a call that changes what is allowed does so for the next call. An error that is a *Denial has the result;
	// any other error means CauseSecurity. A denied call has the duration 0. Check traces why it denied a call. It gets the full
	// name of a tool.
	Check func(ctx context.Context, name string, args json.RawMessage) error
	// After, if set, gets the result of each call that a tool was asked for, and returns the one for the model. It gets the
	// full name of a tool.
	After func(ctx context.Context, name string, args json.RawMessage, r Result) Result
	Trace trace.Tracer

	ErrorText bool // all results have Result.ErrorText
}

// Denial is an error of Executor.Check that has the result of the call.
type Denial struct {
	Result Result
	Err    error // the cause; may be nil
}

// Error returns the text of the cause, or the message of the result.
func (d *Denial) Error() string {
	if d.Err != nil {
		return d.Err.Error()
	}
	return d.Result.Message
}

// Unwrap returns Err.
func (d *Denial) Unwrap() error { return d.Err }

// Call runs one tool and always returns a result. It fails, checking in this order, if
//
//   - ctx is done: the cause that Interrupted returns, "Tool 'x' was not called: " and ctx's error
//   - no such tool: NotFound, "Tool 'x' not found". Names such as functions.bash, in which models put a tool, are the tool's
//   - Object refuses the arguments: ExecutionFailed with ReasonArguments, "arguments of 'x' cannot be read: …". They are not
//     checked against Tool.Input.
//   - Tool.Resolve returns a result
//   - Check denies the call
//   - the tool says Timeout, and ctx is done: the cause that Interrupted returns
//   - Check or the tool panics: ExecutionFailed, "Tool 'x' failed: internal error"; only the trace has the cause
//
// Each call is one event: ToolDenied if the code is PermissionDenied, at Warn, or at Debug if Check denied it; otherwise
// ToolCalled at Debug. A panic is an event of its own before it. Call measures the duration, without Result.Waited. It waits for a tool that ignores ctx.
// Whoever watches gets EventStarted when the tool is called, and EventEnded; see WithWatch.
func (e *Executor) Call(ctx context.Context, name string, args json.RawMessage) Result {
	start := time.Now()
	var attrs []slog.Attr
	if _, _, ok := e.Tools.find(name); !ok {
		attrs = []slog.Attr{slog.Bool(trace.AttrUnknown, true)}
	}
	ctx, span := trace.Begin(ctx, e.Trace, trace.Event{Kind: trace.ToolCalled, Tool: name, Attrs: attrs}, slog.Any("arguments", args))
	ctx, w := watching(ctx, name)
	r, called, denied := e.call(ctx, name, args)
	r.ErrorText = r.ErrorText || e.ErrorText
	if !denied {
		r.Duration = time.Since(start) - r.Waited
	}
	ev := trace.Event{Kind: trace.ToolCalled, Level: slog.LevelDebug, Tool: called, Message: r.Message, Duration: r.Duration}
	if r.Error == PermissionDenied {
		ev.Kind = trace.ToolDenied
		if !denied {
			ev.Level = slog.LevelWarn
		}
	}
	if r.Error != "" {
		attrs = append(attrs, slog.String(trace.AttrCode, string(r.Error)))
		if r.Reason != "" {
			attrs = append(attrs, slog.String(trace.AttrReason, r.Reason))
		}
	}
	if wrote := w.end(&r); wrote > 0 {
		attrs = append(attrs, slog.Int64(trace.AttrStdout, wrote))
	}
	ev.Attrs = attrs
	span.End(ev, slog.Any("result", r))
	return r
}

// call is Call without the event and the duration. It returns the full name of the tool that the call is for, and whether
// Check denied it.
func (e *Executor) call(ctx context.Context, name string, args json.RawMessage) (r Result, called string, denied bool) {
	called = name
	if err := ctx.Err(); err != nil {
		return Interrupted(ctx).Failure(fmt.Sprintf("Tool '%s' was not called: %v", name, err)), called, false
	}
	t, meant, ok := e.Tools.find(name)
	switch {
	case !ok && meant != "":
		return CauseNotFound.Failure(fmt.Sprintf("Tool '%s' not found. Did you mean '%s'?", name, meant)), called, false
	case !ok:
		return CauseNotFound.Failure(fmt.Sprintf("Tool '%s' not found", name)), called, false
	}
	given := args
	args, err := Object(given)
	if err != nil {
		return unreadable(name, given, err), called, false
	}
	defer func() {
		if p := recover(); p != nil {
			trace.Emit(ctx, e.Trace, trace.Event{Kind: trace.ToolCalled, Level: slog.LevelError, Tool: called,
				Message: fmt.Sprintf("tool panicked: %v", p), Attrs: []slog.Attr{slog.String("stack", string(debug.Stack()))}})
			r, denied = CauseUnknown.Failure(fmt.Sprintf("Tool '%s' failed: internal error", called)), false
		}
	}()
	if t.Resolve != nil {
		var ended *Result
		if t, args, ended = t.Resolve(ctx, args); ended != nil {
			return *ended, called, false
		}
		given = args
		if args, err = Object(given); err != nil {
			return unreadable(t.FullName(), given, err), called, false
		}
	}
	called = t.FullName()
	if e.Check != nil {
		if err := e.Check(ctx, called, args); err != nil {
			return denialResult(err), called, true
		}
	}
	begin(ctx, called)
	r = t.Call(ctx, args)
	if c := Interrupted(ctx); c != CauseUnknown && r.Error == Timeout { // not its own time was over
		r.Error, r.Reason = c.Code(), c.Reason()
	}
	if r.ErrorText = r.ErrorText || e.ErrorText; e.After != nil {
		r = e.After(ctx, called, args, r)
	}
	return r, called, false
}

// unreadable returns the failure for arguments that Object refuses.
func unreadable(name string, args json.RawMessage, err error) Result {
	return CauseArguments.Failure(fmt.Sprintf("arguments of '%s' cannot be read: %v; they were: %.200s", name, err, args))
}

// denialResult returns the result for an error of Check.
func denialResult(err error) Result {
	if d, ok := errors.AsType[*Denial](err); ok {
		return d.Result
	}
	return CauseSecurity.Failure(err.Error())
}
