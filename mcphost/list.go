package mcphost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/tool"
)

// Limits of a list of tools.
const (
	maxTools       = 256  // that are used of one server
	maxPages       = 64   // of a list
	maxDescription = 2048 // characters; more is cut
	maxSchema      = 64 << 10
	maxDepth       = 32 // of a schema
	maxName        = 64 // characters of a name for models
	maxWireName    = 256
)

// Described is a tool as its server describes it.
type Described struct {
	Name        string          `json:"name"` // as the server knows it
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	ReadOnly    bool            `json:"read_only,omitempty"` // the server says that it changes nothing
}

// digest changes with everything that a model or the user sees of the tool.
func (d *Described) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%t", d.Description, d.Input, d.ReadOnly)))
}

// catalogue asks the server for its tools. The second result has those that cannot be used.
func (s *server) catalogue(ctx context.Context, c *Conn) (out []Described, errs []error, _ error) {
	fault := func(name, why string) {
		errs = append(errs, s.fault(KindTool, fmt.Sprintf("tool %.100q: %s", name, why), nil))
	}
	cursor := ""
	for range maxPages {
		page, err := c.Tools(ctx, cursor)
		if err != nil {
			return nil, nil, err
		}
		for i := range page.Tools {
			t := &page.Tools[i]
			if s.Server.Tools != nil && !slices.Contains(s.Server.Tools, t.Name) {
				continue
			}
			d, err := s.described(t)
			switch {
			case err != nil:
				fault(t.Name, err.Error())
			case len(out) >= maxTools:
				return out, append(errs, s.fault(KindTool, fmt.Sprintf("it has more than %d tools: the first ones are used", maxTools), nil)), nil
			case slices.ContainsFunc(out, func(o Described) bool { return o.Name == d.Name }):
				fault(t.Name, "it has this name twice, and the first is used")
			default:
				out = append(out, d)
			}
		}
		if page.Next == "" {
			return out, errs, nil
		}
		if page.Next == cursor || len(errs) > maxTools {
			break
		}
		cursor = page.Next
	}
	return out, append(errs, s.fault(KindTool, "its list of tools does not end: the first ones are used", nil)), nil
}

// described checks a tool of a list.
func (s *server) described(t *Tool) (Described, error) {
	d := Described{Name: t.Name, Description: cut(s.plain(t.Description)), ReadOnly: t.ReadOnly}
	if t.Name == "" || len(t.Name) > maxWireName || t.Name != Plain(t.Name, maxWireName) {
		return d, errors.New("it has no usable name")
	}
	var err error
	d.Input, err = schema(t.Input)
	return d, err
}

// cut cuts a description.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= maxDescription {
		return text
	}
	return string([]rune(text)[:maxDescription-1]) + "…"
}

// schema checks the schema of the arguments of a tool: it must be that of an object. One that says nothing of its type is taken for one.
func schema(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes, at most %d are possible", len(raw), maxSchema)
	}
	if depth(raw) > maxDepth {
		return nil, fmt.Errorf("its schema has more than %d levels", maxDepth)
	}
	var all map[string]json.RawMessage
	if string(raw) == "null" || len(raw) == 0 {
		all = map[string]json.RawMessage{}
	} else if json.Unmarshal(raw, &all) != nil {
		return nil, errors.New("its schema is not that of an object")
	}
	switch kind := string(all["type"]); kind {
	case `"object"`:
		return raw, nil
	case "":
		all["type"] = json.RawMessage(`"object"`)
		return json.Marshal(all)
	}
	return nil, errors.New("its schema is not that of an object")
}

// depth returns how many objects and lists a JSON text has inside each other.
func depth(raw []byte) int {
	dec, now, most := json.NewDecoder(bytes.NewReader(raw)), 0, 0
	for {
		t, err := dec.Token()
		if err != nil {
			return most
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			now++
			most = max(most, now)
		case json.Delim('}'), json.Delim(']'):
			now--
		}
	}
}

// accept takes over a list. A tool that is not what it was keeps its old description, and is refused.
func (s *server) accept(ctx context.Context, c *Conn, tools []Described, errs []error) {
	s.mu.Lock()
	before, was := s.listed, s.seen.Tools
	now := seen{Server: c.about(), Tools: slices.Clone(tools)}
	s.changed = map[string]*Described{}
	for i := range tools {
		j := slices.IndexFunc(was, func(d Described) bool { return d.Name == tools[i].Name })
		if j < 0 || !before || was[j].digest() == tools[i].digest() {
			continue
		}
		s.changed[tools[i].Name] = &tools[i]
		now.Tools[i] = was[j]
		errs = append(errs, s.fault(KindChanged, changedText(tools[i].Name), nil))
	}
	s.news = s.news || before && !slices.EqualFunc(was, now.Tools, func(a, b Described) bool { return a.Name == b.Name })
	s.seen, s.listed, s.stale, s.errs = now, true, false, errs
	s.mu.Unlock()
	s.record(ctx, &now)
}

func changedText(name string) string {
	return fmt.Sprintf("tool %q has another description or schema than when it was looked at, and is not called", name)
}

// refused returns why a tool is not called; nil if it is.
func (s *server) refused(d *Described) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed[d.Name] != nil {
		return s.fault(KindChanged, changedText(d.Name), nil)
	}
	i := slices.IndexFunc(s.seen.Tools, func(o Described) bool { return o.Name == d.Name })
	if i < 0 {
		return s.fault(KindTool, fmt.Sprintf("it has no tool %q any more", d.Name), nil)
	}
	if s.seen.Tools[i].digest() != d.digest() { // accepted since the model saw it
		return s.fault(KindChanged, changedText(d.Name)+" until the list of tools is given again", nil)
	}
	return nil
}

// Listed returns the tools of a server as it describes them, as they were last seen. It starts nothing.
func (h *Host) Listed(label string) []Described {
	s := h.find(label)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen.Tools)
}

// Change is a tool that is not what it was when it was looked at.
type Change struct{ Was, Now Described }

// Changes returns the tools of a server that are refused because they have changed.
func (h *Host) Changes(label string) []Change {
	s := h.find(label)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Change
	for _, d := range s.seen.Tools {
		if now := s.changed[d.Name]; now != nil {
			out = append(out, Change{d, *now})
		}
	}
	return out
}

// Accept says that the user has looked at the changed tools of a server: they are used as they are now.
func (h *Host) Accept(ctx context.Context, label string) {
	s := h.find(label)
	if s == nil {
		return
	}
	s.mu.Lock()
	s.seen.Tools = slices.Clone(s.seen.Tools)
	for i, d := range s.seen.Tools {
		if now := s.changed[d.Name]; now != nil {
			s.seen.Tools[i], s.news = *now, true
		}
	}
	s.changed = map[string]*Described{}
	s.errs = slices.DeleteFunc(s.errs, func(err error) bool { e, ok := errors.AsType[*ServerError](err); return ok && e.Kind == KindChanged })
	now := s.seen
	s.mu.Unlock()
	s.record(ctx, &now)
}

// ReadOnly reports whether a tool, by the name that a model calls, changes nothing: the user named it in Server.Tools, and the server says so.
func (h *Host) ReadOnly(name string) bool {
	for _, s := range h.servers {
		s.mu.Lock()
		tools := s.seen.Tools
		s.mu.Unlock()
		if i := slices.Index(namesOf(s.Label, tools), name); i >= 0 {
			return tools[i].ReadOnly && slices.Contains(s.Server.Tools, tools[i].Name)
		}
	}
	return false
}

// offered returns the tools as a model calls them.
func (s *server) offered() []tool.Tool {
	s.mu.Lock()
	tools := s.seen.Tools
	s.mu.Unlock()
	names := namesOf(s.Label, tools)
	out := make([]tool.Tool, len(tools))
	for i := range tools {
		d := tools[i]
		out[i] = tool.Tool{
			Name: names[i], Source: "MCP server " + s.Label, Description: d.Description, Input: d.Input,
			Call: func(ctx context.Context, args json.RawMessage) tool.Result { return s.call(ctx, names[i], &d, args) },
		}
	}
	return out
}

var odd = lazyregexp.New(`[^A-Za-z0-9_-]`)

// namesOf returns the names of tools for models. One that is not the server's own gets a hash where it would be that of another tool, whatever
// their order.
func namesOf(label string, tools []Described) []string {
	out, taken := make([]string, len(tools)), map[string]int{}
	for i := range tools {
		out[i] = "mcp__" + label + "__" + odd().ReplaceAllString(tools[i].Name, "_")
		taken[out[i]]++
	}
	for i, name := range out {
		own := strings.HasSuffix(name, "__"+tools[i].Name)
		if len(name) > maxName || taken[name] > 1 && !own {
			hash := fmt.Sprintf("_%x", sha256.Sum256([]byte(label+"\x00"+tools[i].Name)))[:9]
			out[i] = name[:min(len(name), maxName-len(hash))] + hash
		}
	}
	return out
}
