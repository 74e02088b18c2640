package tool

import (
	"bytes"
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
	// Check, if set, may deny a call before it happens. It gets the arguments that the tool would get. An error that is a
	// Denial keeps its code and text; any other error means PermissionDenied.
	Check func(name string, args json.RawMessage) error
	Trace trace.Tracer
}

// Denial is an error of Executor.Check that chooses the code of the result.
type Denial interface {
	error
	Code() Code
}

// Call runs one tool and always returns a result. It fails, checking in this order, if
//
//   - ctx is done: Timeout, "Tool 'x' was not called: " and ctx's error
//   - no such tool: NotFound, "Tool 'x' not found"
//   - the arguments are not a JSON object: ExecutionFailed with ReasonArguments, "arguments of 'x' are not a JSON object: …".
//     Missing arguments and null count as {}. They are not checked against Tool.Input.
//   - Check denies the call
//   - Check or the tool panics: ExecutionFailed, "Tool 'x' failed: internal error"; only the trace has the cause
//
// Each call is one event: ToolDenied at Warn if the code is PermissionDenied, otherwise ToolCalled at Debug. A panic is an
// event of its own before it. Call measures the duration. It waits for a tool that ignores ctx.
func (e *Executor) Call(ctx context.Context, name string, args json.RawMessage) Result {
	start := time.Now()
	r := e.call(ctx, name, args)
	r.Duration = time.Since(start)
	ev := trace.Event{Kind: trace.ToolCalled, Level: slog.LevelDebug, Tool: name, Message: r.Message, Duration: r.Duration}
	if r.Error == PermissionDenied {
		ev.Kind, ev.Level = trace.ToolDenied, slog.LevelWarn
	}
	trace.Emit(ctx, e.Trace, ev)
	return r
}

func (e *Executor) call(ctx context.Context, name string, args json.RawMessage) (r Result) {
	if err := ctx.Err(); err != nil {
		return CauseTimeout.Failure(fmt.Sprintf("Tool '%s' was not called: %v", name, err))
	}
	t, ok := e.Tools.Lookup(name)
	if !ok {
		return CauseNotFound.Failure(fmt.Sprintf("Tool '%s' not found", name))
	}
	args, err := object(args)
	if err != nil {
		return CauseArguments.Failure(fmt.Sprintf("arguments of '%s' are not a JSON object: %v; they were: %.200s", name, err, args))
	}
	defer func() {
		if p := recover(); p != nil {
			trace.Emit(ctx, e.Trace, trace.Event{Kind: trace.ToolCalled, Level: slog.LevelError, Tool: name,
				Message: fmt.Sprintf("tool panicked: %v", p), Attrs: []slog.Attr{slog.String("stack", string(debug.Stack()))}})
			r = CauseUnknown.Failure(fmt.Sprintf("Tool '%s' failed: internal error", name))
		}
	}()
	if e.Check != nil {
		if err := e.Check(name, args); err != nil {
			return denied(err)
		}
	}
	return t.Call(ctx, args)
}

// object returns the arguments as one JSON object. With an error it returns them unchanged.
func object(args json.RawMessage) (json.RawMessage, error) {
	const space = " \t\r\n" // of JSON
	bare := bytes.Trim(args, space)
	if len(bare) == 0 || string(bare) == "null" {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(bare) {
		var v any
		return args, json.Unmarshal(bare, &v) // the error says where
	}
	if bare[0] != '{' {
		return args, errors.New("they must be one JSON object")
	}
	return args, nil
}

func denied(err error) Result {
	var d Denial
	if errors.As(err, &d) {
		return Failure(d.Code(), d.Error())
	}
	return CauseSecurity.Failure(err.Error())
}
