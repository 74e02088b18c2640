// Package tool defines what a model can call: a Tool with a schema, an ordered Set of tools, and the Executor through which
// every call goes, so one check covers all tools.
//
// A failure is a Result, not an error, because a model reads it. The package knows no skills and no models. A Set must not
// change while an Executor uses it. An Executor is safe for concurrent use if its tools are.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
)

// Tool is a function that a model can call.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, an object; sent to models, not enforced; nil allows any
	// Call gets one JSON object, {} if there are no arguments, and checks it.
	Call   func(context.Context, json.RawMessage) Result
	Source string // origin, for collisions: "<skill>.<Class>"; "" for a built-in tool
	// Full is the name by which calls are checked and traced: "<skill>.<Class>.<tool>" for a tool of a toolset, which is
	// the same whatever its Name is in a Set. "" means Name.
	Full string
	// Resolve, if set, returns the tool that a call is really for, and the arguments for it: an Executor checks, traces and
	// calls that tool in place of this one. A result that is not nil ends the call. Call is not called then.
	Resolve func(context.Context, json.RawMessage) (Tool, json.RawMessage, *Result)
}

// FullName returns Full, or Name without one.
func (t *Tool) FullName() string {
	if t.Full != "" {
		return t.Full
	}
	return t.Name
}

// Set is an ordered collection of tools with distinct names. The zero value and a nil Set are empty. It may be read by several
// goroutines, but not while Add runs.
type Set struct {
	tools  []Tool
	byName map[string]int
}

// Collision reports that a tool was left out because its name is taken.
type Collision struct{ Name, Kept, Dropped string }

// Error names the tool and both origins: "Tool name collision: 'x' from B.x conflicts with A.x (using first)".
func (c *Collision) Error() string {
	return fmt.Sprintf("Tool name collision: '%s' from %s conflicts with %s (using first)", c.Name, c.Dropped, c.Kept)
}

// Add appends t. If the name is taken, the first tool stays and Add returns a *Collision. It panics if t has no name or
// no Call.
func (s *Set) Add(t Tool) error {
	if t.Name == "" || t.Call == nil {
		panic(fmt.Sprintf("tool %q: a name and a Call are needed", t.Name))
	}
	if c := s.Collides(t); c != nil {
		return c
	}
	if s.byName == nil {
		s.byName = map[string]int{}
	}
	s.byName[t.Name] = len(s.tools)
	s.tools = append(s.tools, t)
	return nil
}

// Collides returns the error that Add would return for t, or nil.
func (s *Set) Collides(t Tool) *Collision {
	kept, ok := s.Lookup(t.Name)
	if !ok {
		return nil
	}
	return &Collision{Name: t.Name, Kept: qualified(kept), Dropped: qualified(t)}
}

func qualified(t Tool) string {
	if t.Source == "" || t.Full != "" {
		return t.FullName()
	}
	return t.Source + "." + t.Name
}

// All yields the tools in the order they were added.
func (s *Set) All() iter.Seq[Tool] {
	return func(yield func(Tool) bool) {
		if s == nil {
			return
		}
		for _, t := range s.tools {
			if !yield(t) {
				return
			}
		}
	}
}

// namespaces are what models put before the names of tools, because other hosts show them tools in that way.
var namespaces = []string{"functions.", "functions:", "default_api.", "default_api:", "tools."}

// find finds a tool by its name, or by its name in a namespace that is no part of it. Without one it returns the nearest name, if
// one is near.
func (s *Set) find(name string) (t Tool, meant string, ok bool) {
	if t, ok := s.Lookup(name); ok {
		return t, "", true
	}
	bare := name
	for _, n := range namespaces {
		bare = strings.TrimPrefix(bare, n)
	}
	if t, ok := s.Lookup(bare); ok {
		return t, "", true
	}
	var names []string
	for t := range s.All() {
		names = append(names, t.Name)
	}
	return Tool{}, near.Name(bare, names), false
}

// Lookup finds a tool by its exact name.
func (s *Set) Lookup(name string) (Tool, bool) {
	if s == nil {
		return Tool{}, false
	}
	i, ok := s.byName[name]
	if !ok {
		return Tool{}, false
	}
	return s.tools[i], true
}
