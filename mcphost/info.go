package mcphost

import (
	"cmp"
	"encoding/json"
)

// States of a server.
const (
	StateIdle    = "idle" // not started, or ended
	StateRunning = "running"
	StateFailed  = "failed"
)

// about is what a server says of itself.
type about struct {
	Protocol     string                     `json:"protocol"`
	Name         string                     `json:"name"`
	Version      string                     `json:"version"`
	Instructions string                     `json:"instructions,omitempty"`
	Features     []string                   `json:"features,omitempty"`
	Extensions   map[string]json.RawMessage `json:"extensions,omitempty"`
}

// Info is what is known of a server. What it says of itself is as it was last seen, and is for display only.
type Info struct {
	State         string
	Remote        bool
	Protocol      string   // the revision of MCP, such as "2026-07-28"
	Name, Version string   // what the server calls itself
	Instructions  string   // what it says about its use, for a model
	Features      []string // "tools", "prompts", "resources", "completions"
	Tools         int      // that are used
	Calls         int64    // that were answered
	Problems      []error  // of its tools: each a *ServerError
	Err           error    // the last failure; nil if it works
}

// Info returns what is known of a server; the zero Info for an unknown label. It starts nothing.
func (h *Host) Info(label string) Info {
	s := h.find(label)
	if s == nil {
		return Info{}
	}
	runs := s.keep.Current() != nil
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.seen.Server
	i := Info{State: StateIdle, Remote: s.URL != "", Protocol: a.Protocol, Name: a.Name, Version: a.Version, Instructions: a.Instructions, Features: a.Features,
		Tools: len(s.seen.Tools), Calls: s.calls, Problems: s.errs, Err: s.last}
	switch {
	case runs:
		i.State = StateRunning
	case i.Err != nil:
		i.State = StateFailed
	}
	return i
}

// Extension returns what a server declared for an extension when it was last seen, and whether it declared it. It starts nothing: before
// the first start nothing is known.
func (h *Host) Extension(label, name string) (json.RawMessage, bool) {
	s := h.find(label)
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, ok := s.seen.Server.Extensions[name]
	return raw, ok
}

// about returns what the server says of itself.
func (c *Conn) about() about {
	init := c.session.InitializeResult()
	if init == nil {
		return about{}
	}
	a := about{Protocol: Plain(init.ProtocolVersion, 32), Instructions: cut(Plain(init.Instructions, maxInstructions)), Extensions: map[string]json.RawMessage{}}
	if i := init.ServerInfo; i != nil {
		a.Name, a.Version = Plain(cmp.Or(i.Title, i.Name), 200), Plain(i.Version, 100)
	}
	for _, f := range []string{"tools", "prompts", "resources", "completions"} {
		if c.has(f) {
			a.Features = append(a.Features, f)
		}
	}
	if init.Capabilities == nil {
		return a
	}
	for name, settings := range init.Capabilities.Extensions {
		if b, err := json.Marshal(settings); err == nil && len(name) <= 200 && len(b) <= maxSchema && len(a.Extensions) < maxExtensions {
			a.Extensions[name] = b
		}
	}
	return a
}

const (
	maxInstructions = 64 << 10 // bytes that are looked at
	maxExtensions   = 64
)

// has reports whether the server declares a feature.
func (c *Conn) has(feature string) bool {
	init := c.session.InitializeResult()
	if init == nil || init.Capabilities == nil {
		return false
	}
	caps := init.Capabilities
	return map[string]bool{"tools": caps.Tools != nil, "prompts": caps.Prompts != nil, "resources": caps.Resources != nil, "completions": caps.Completions != nil}[feature]
}
