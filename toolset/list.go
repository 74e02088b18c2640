package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/toolset/internal/host"
)

// Limits of a listing.
const (
	maxTools       = 128     // of one process
	maxPages       = 32      // of a listing
	maxDescription = 8 << 10 // bytes; more is cut
	maxSchema      = 64 << 10
)

// listed is one tool of a process.
type listed struct {
	Class       string          `json:"class"`
	Name        string          `json:"name"` // for models
	Wire        string          `json:"wire"` // for the process
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`

	unit *unit
}

// lister has a list of tools: an *mcphost.Conn.
type lister interface {
	Tools(ctx context.Context, cursor string) (*mcphost.Page, error)
}

// catalogue asks a process for its tools.
func (u *unit) catalogue(ctx context.Context, c lister) ([]listed, []error, error) {
	var out []listed
	var errs []error
	cursor := ""
	for range maxPages {
		page, err := c.Tools(ctx, cursor)
		if err != nil {
			return nil, nil, err
		}
		errs = append(errs, u.failures(page.Meta)...)
		for i := range page.Tools {
			t := &page.Tools[i]
			if len(out) >= maxTools {
				rest := len(page.Tools) - i
				return out, append(errs, u.fault("", KindTool, fmt.Sprintf("it has more than %d tools: at least %d are left out", maxTools, rest))), nil
			}
			l, err := u.listed(t)
			if j := slices.IndexFunc(out, func(o listed) bool { return o.Class == l.Class && o.Name == l.Name }); err == nil && j >= 0 {
				if l.before(&out[j]) {
					out[j], l = l, out[j]
				}
				err = fmt.Errorf("another tool, %.100q, has its name %q", out[j].Wire, l.Name)
			}
			if err != nil {
				errs = append(errs, u.fault(l.Class, KindTool, fmt.Sprintf("tool %.100q: %v", l.Wire, err)))
				continue
			}
			out = append(out, l)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	return out, errs, nil
}

// listed checks a tool of a listing.
func (u *unit) listed(t *mcphost.Tool) (listed, error) {
	l := listed{Class: u.entries[0].Class, Name: t.Name, Wire: t.Name, Description: describe(t.Description), Input: t.Input, unit: u}
	if u.lang != Server {
		class, name, ok := strings.Cut(t.Name, ".")
		if !ok || !slices.ContainsFunc(u.entries, func(e Entry) bool { return e.Class == class }) {
			return l, fmt.Errorf("its name has no class")
		}
		l.Class, l.Name = class, name
	}
	l.Name = invalid().ReplaceAllString(l.Name, "_")
	if l.Name == "" || len(l.Name) > maxName {
		return l, fmt.Errorf("its name has %d characters: 1 to %d are possible", len(l.Name), maxName)
	}
	if len(l.Input) > maxSchema {
		return l, fmt.Errorf("its schema has %d bytes, at most %d are possible", len(l.Input), maxSchema)
	}
	var schema struct{ Type any }
	if json.Unmarshal(t.Input, &schema) != nil || schema.Type != "object" {
		return l, fmt.Errorf("its schema is not that of an object")
	}
	return l, nil
}

// before reports whether of two tools with the same name for models this one has it, whatever their order: one whose own name it is, or
// else the first by their own names.
func (l *listed) before(other *listed) bool {
	own, its := strings.HasSuffix(l.Wire, l.Name), strings.HasSuffix(other.Wire, other.Name)
	if own != its {
		return own
	}
	return l.Wire < other.Wire
}

const maxName = 64

var invalid = lazyregexp.New(`[^A-Za-z0-9_-]`)

// describe returns a description as it is given to models.
func describe(text string) string { return mcphost.Plain(text, maxDescription) }

// failures returns the toolsets that a language host could not load.
func (u *unit) failures(meta map[string]any) []error {
	raw, ok := meta[host.MetaFailures]
	if !ok {
		return nil
	}
	b, err := json.Marshal(raw)
	if err != nil {
		return nil
	}
	var all []host.Failure
	if err := json.Unmarshal(b, &all); err != nil {
		return []error{u.fault("", KindProtocol, "its list of failures cannot be read: "+err.Error())}
	}
	var out []error
	for _, f := range all[:min(len(all), maxTools)] {
		e := u.fault("", Kind(f.Kind), describe(f.Message))
		e.Toolset, e.Package, e.Trace = f.Toolset, f.Package, describe(f.Trace)
		switch name := survey.Package(f.Package); {
		case f.Package == "":
		case u.lang == Node:
			e.Package = script.NPM + f.Package
		case u.lang == Python && e.Kind == KindPackage && survey.KnownPackage(f.Package) && name != f.Package:
			e.Message = fmt.Sprintf("it needs the package %q for the module %q, which is not installed", name, f.Package)
		}
		out = append(out, e)
	}
	return out
}

// fault returns a failure of one class of the unit, or of the whole unit.
func (u *unit) fault(class string, kind Kind, message string) *Error {
	return &Error{Skill: u.owner.name, Toolset: u.toolset(class), Kind: kind, Message: message}
}

// toolset returns how a class of the unit is declared; for "" all of them.
func (u *unit) toolset(class string) string {
	var all []string
	for _, e := range u.entries {
		if e.Class == class {
			return e.Toolset
		}
		all = append(all, e.Toolset)
	}
	return strings.Join(all, ", ")
}
