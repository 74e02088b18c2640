package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	toolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`) // accepted by all four wires
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

func refuse(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// judge checks the rules that all wires share. The caller must hold the lock.
func (s *Server) judge(q *Request) error {
	if q.Model == "" {
		return refuse("model: field required")
	}
	if err := judgeTools(q.Tools); err != nil {
		return err
	}
	if len(q.Messages) == 0 {
		return refuse("messages: at least one message is required")
	}
	if first := q.Messages[0]; first.Role != "user" {
		return refuse("messages: the first message must be from the user")
	}
	if last := q.Messages[len(q.Messages)-1]; last.Role != "user" {
		return refuse("messages: the last message must be from the user")
	}
	for i, m := range q.Messages {
		var calls []*Call
		if i > 0 {
			calls = callsOf(q.Messages[i-1])
		}
		if err := pair(calls, m, q.Wire); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		if err := s.judgeCalls(callsOf(m), q.Wire); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return nil
}

func judgeTools(tools []Tool) error {
	seen := map[string]bool{}
	for i, t := range tools {
		if !toolName.MatchString(t.Name) {
			return refuse("tools[%d]: invalid name %q", i, t.Name)
		}
		if seen[t.Name] {
			return refuse("tools[%d]: duplicate name %q", i, t.Name)
		}
		seen[t.Name] = true
		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.Input, &schema) != nil || !strings.EqualFold(schema.Type, "object") {
			return refuse("tools[%d]: the schema of %q must be of type object", i, t.Name)
		}
	}
	return nil
}

func callsOf(m Message) []*Call {
	var calls []*Call
	for _, p := range m.Parts {
		if p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	return calls
}

// pair matches each result in m to a call of the previous message. Every call must have exactly one result, and every
// result a call. On a wire without IDs the order decides.
func pair(calls []*Call, m Message, wire Wire) error {
	open := slices.Clone(calls)
	said := false
	for _, p := range m.Parts {
		if p.Result == nil {
			said = said || p.Text != ""
			continue
		}
		if said && wire != Responses {
			return refuse("tool results must come before text")
		}
		at := slices.IndexFunc(open, func(c *Call) bool {
			return c.ID == p.Result.ID && (p.Result.Name == "" || p.Result.Name == c.Name)
		})
		if at < 0 {
			return refuse("no call in the previous message for the result with ID %q", p.Result.ID)
		}
		p.Result.Name = open[at].Name
		open = slices.Delete(open, at, at+1)
	}
	if len(open) > 0 {
		return refuse("no result in the next message for the call %q of %q", open[0].ID, open[0].Name)
	}
	return nil
}

// judgeCalls checks the calls that the client attributes to the model.
func (s *Server) judgeCalls(calls []*Call, wire Wire) error {
	seen := map[string]bool{}
	for _, c := range calls {
		if !toolName.MatchString(c.Name) {
			return refuse("invalid name %q of a call", c.Name)
		}
		if !isObject(c.Args) {
			return refuse("the arguments of %q must be a JSON object", c.Name)
		}
		if c.ID == "" && wire == Gemini {
			continue
		}
		if !callID.MatchString(c.ID) {
			return refuse("invalid ID %q of a call", c.ID)
		}
		if seen[c.ID] {
			return refuse("duplicate ID %q of a call", c.ID)
		}
		seen[c.ID] = true
		if want := s.given[c.ID]; want != c.Signature && want != "" {
			return refuse("the reasoning of the call %q must be sent back unchanged", c.ID)
		}
	}
	return nil
}

// remember keeps the signature of a call that the client is about to get. Gemini signs only the first call.
func (s *Server) remember(a *answer) {
	if a.signature == "" || a.request.Wire == Chat || a.request.Wire == Responses && !a.request.signatures {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range a.Calls {
		if a.request.Wire != Gemini || i == 0 && !a.NoIDs {
			s.given[c.ID] = a.signature
		}
	}
}

// fields is an object of a request.
type fields map[string]json.RawMessage

// elements calls read for the elements of a list, with where each stands, up to the first error.
func elements(list []json.RawMessage, where string, read func(raw json.RawMessage, where string) error) error {
	for i, raw := range list {
		if err := read(raw, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	return nil
}

// object reads an object. The known fields are a list separated by spaces; any other field is an error.
func object(raw json.RawMessage, where, known string) (fields, error) {
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil || f == nil {
		return nil, refuse("%s: must be an object", where)
	}
	names := strings.Fields(known)
	for name, value := range f {
		if !slices.Contains(names, name) {
			return nil, refuse("%s: unknown field %q", where, name)
		}
		if bytes.Equal(value, []byte("null")) {
			delete(f, name)
		}
	}
	return f, nil
}

// into decodes fields into variables. Its arguments alternate: a name, a pointer, and so on. A "!" at the end of a name
// makes the field required.
func (f fields) into(where string, pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		name, needed := strings.CutSuffix(pairs[i].(string), "!")
		raw, ok := f[name]
		if !ok {
			if needed {
				return refuse("%s.%s: field required", where, name)
			}
			continue
		}
		if err := json.Unmarshal(raw, pairs[i+1]); err != nil {
			return refuse("%s.%s: %v", where, name, err)
		}
	}
	return nil
}

// textOf reads a string, or the text of a list of parts of the given type.
func textOf(raw json.RawMessage, where, kind string) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", refuse("%s: must be a string or a list of parts", where)
	}
	for i, p := range parts {
		if p.Type != kind || p.Text == nil {
			return "", refuse("%s[%d]: expected a part of type %q, got %q", where, i, kind, p.Type)
		}
		s += *p.Text
	}
	return s, nil
}
