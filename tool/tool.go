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
	"fmt"
	"iter"
)

// Tool is one thing a model can call.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, an object; told to models, compared with nothing
	// Call gets one JSON object, {} when there are no arguments. Whether it fits Input is for Call to see.
	Call   func(context.Context, json.RawMessage) Result
	Source string // where it comes from, for collisions: "<skill>.<Class>"; "" for built-in
}

// Set is an ordered collection of tools with distinct names. The zero value is empty, and so is a nil one.
type Set struct {
	tools  []Tool
	byName map[string]int
}

// Collision says that a tool was left out because its name was taken.
type Collision struct{ Name, Kept, Dropped string }

// Error names the tool and where both come from (R116): "Tool name collision: 'x' from B.x conflicts with A.x (using first)".
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
