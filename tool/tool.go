// Package tool is what a model calls: a Tool with a schema, an ordered Set of them, and the one
// Executor through which every call goes, so that a check applies to all of them alike.
//
// Failures are results, not errors: a model reads them. The package knows no skills and no models.
// A Set must not change while an Executor uses it; an Executor is safe for concurrent use as far
// as its tools are.
package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// Tool is one thing a model can call.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, an object
	Call        func(context.Context, json.RawMessage) Result
	Source      string // where it comes from, for collisions: "<skill>.<Class>"; "" for built-in
}

// Set is an ordered collection of tools with distinct names. The zero value is empty.
type Set struct {
	tools  []Tool
	byName map[string]int
}

// Collision says that a tool was left out because its name was taken.
type Collision struct{ Name, Kept, Dropped string }

// Error returns R116's text.
func (c *Collision) Error() string {
	return fmt.Sprintf("Tool name collision: '%s' from %s conflicts with %s (using first)", c.Name, c.Dropped, c.Kept)
}

// Add appends t. If the name is taken the first stays, and the error is a *Collision. It panics on
// a tool without a name or a Call: that is a mistake of the program.
func (s *Set) Add(t Tool) error {
	if t.Name == "" || t.Call == nil {
		panic(fmt.Sprintf("tool %q: a name and a Call are needed", t.Name))
	}
	if i, ok := s.byName[t.Name]; ok {
		return &Collision{Name: t.Name, Kept: qualified(s.tools[i]), Dropped: qualified(t)}
	}
	if s.byName == nil {
		s.byName = map[string]int{}
	}
	s.byName[t.Name] = len(s.tools)
	s.tools = append(s.tools, t)
	return nil
}

func qualified(t Tool) string {
	if t.Source == "" {
		return t.Name
	}
	return t.Source + "." + t.Name
}

// All yields the tools in the order they were added.
func (s *Set) All() iter.Seq[Tool] {
	return func(yield func(Tool) bool) {
		for _, t := range s.tools {
			if !yield(t) {
				return
			}
		}
	}
}

// Lookup finds a tool by its exact name.
func (s *Set) Lookup(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok {
		return Tool{}, false
	}
	return s.tools[i], true
}

// Executor calls tools. Check, when set, may deny a call before it happens; an error that is a
// Denial keeps its code and text.
type Executor struct {
	Tools *Set
	Check func(name string, args json.RawMessage) error
	Trace trace.Tracer
}

// Denial is what a check's error can be to choose the result's code.
type Denial interface {
	error
	Code() Code
}

// Call runs one tool and always returns a result: an unknown name, a denied call and a panicking
// tool are results too. The duration is measured here.
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
	t, ok := e.Tools.Lookup(name)
	if !ok {
		return Failure(NotFound, fmt.Sprintf("Tool '%s' not found", name))
	}
	if e.Check != nil {
		if err := e.Check(name, args); err != nil {
			return denied(err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			trace.Emit(ctx, e.Trace, trace.Event{Kind: trace.ToolCalled, Level: slog.LevelError, Tool: name,
				Message: fmt.Sprintf("tool panicked: %v", p), Attrs: []slog.Attr{slog.String("stack", string(debug.Stack()))}})
			r = Failure(ExecutionFailed, fmt.Sprintf("Tool '%s' failed: internal error", name))
		}
	}()
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return t.Call(ctx, args)
}

func denied(err error) Result {
	var d Denial
	if errors.As(err, &d) {
		return Failure(d.Code(), d.Error())
	}
	return Failure(PermissionDenied, err.Error())
}
