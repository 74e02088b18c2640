package order

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// ToolOf is what a call of toolsets is about.
type ToolOf struct {
	Class string          `json:"class,omitempty"` // the toolset; "" for all of them, which only a list is about
	Name  string          `json:"name,omitempty"`  // of the tool that is called
	Args  json.RawMessage `json:"args,omitempty"`  // an object
}

// check returns an error if t is not what a call has.
func (t *ToolOf) check(c Call, session string) error {
	switch {
	case c != Tools && c != Tool:
		if t != nil || session != "" {
			return fmt.Errorf("the call %s is about no tool of a session", c)
		}
	case t == nil || session == "" || len(session) > maxName || len(t.Class) > maxName || len(t.Name) > maxName:
		return fmt.Errorf("the call %s has a tool and a session", c)
	case c == Tool && (t.Class == "" || t.Name == "" || !json.Valid(t.Args)) || c == Tools && (t.Name != "" || t.Args != nil):
		return fmt.Errorf("the call %s is not complete", c)
	}
	return nil
}

// Sticks returns a text that is the same for orders which need the same worker as long as it lives: the processes of toolsets, which remember
// things from call to call, are there. It is "" for an order that any worker can carry out.
func (o *Order) Sticks() string {
	if o.Session == "" {
		return ""
	}
	return together(o.For.Tenant, o.Session, o.Skill.Layer, o.Skill.Name)
}

// Home returns a text that is the same for the orders whose scripts have the same home.
func (o *Order) Home() string { return together(o.For.Tenant, o.Skill.Layer, o.Skill.Name) }

// together returns a text that other names do not have.
func together(names ...string) string {
	return strings.TrimPrefix(digestOf([]byte(strings.Join(names, "\x00"))), "sha256:")
}

// ToolForm is a tool of a toolset.
type ToolForm struct {
	Class       string          `json:"class"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
}

// Answer is what a tool answers, see tool.Result.
type Answer struct {
	Success bool            `json:"success,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Message string          `json:"message,omitempty"`
	Error   tool.Code       `json:"error,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Media   []tool.Media    `json:"media,omitempty"`
	Lacked  want.Set        `json:"lacked,omitempty"` // what it lacked
}

func (a *Answer) result() tool.Result {
	r := tool.Result{Success: a.Success, Message: a.Message, Error: a.Error, Reason: a.Reason, Media: a.Media}
	if a.Result != nil {
		r.Result = a.Result
	}
	return r
}

// lacked returns what a call failed for want of, nil for nothing.
func (a *Answer) lacked() error {
	if len(a.Lacked) == 0 {
		return nil
	}
	return &script.Error{Code: script.ExecutionFailed, Wants: a.Lacked, Message: "something is lacking"}
}

// check returns an error if no tool gives such an answer.
func (a *Answer) check() error {
	if a == nil {
		return nil
	}
	for _, m := range a.Media {
		if kind := media.Type(m.Data); kind == "" || kind != m.Type {
			return fmt.Errorf("%.40q is not what it is said to be", m.Type)
		}
	}
	return a.Lacked.Check()
}

// check returns an error if f cannot be a tool.
func (f *ToolForm) check() error {
	var schema map[string]any
	if f.Class == "" || f.Name == "" || len(f.Class) > maxName || len(f.Name) > maxName || f.Input != nil && json.Unmarshal(f.Input, &schema) != nil {
		return fmt.Errorf("%.40q of %.40q is no tool", f.Name, f.Class)
	}
	return nil
}

// Toolsets gives one session the tools of toolsets on another machine: it is a skilltool.Toolsets. Each list of tools and each call of one
// is an order. The processes stay on that machine from call to call.
type Toolsets struct {
	s       *Sender
	session string
	advise  func(err error, skillName string) string

	mu    sync.Mutex
	known map[skill.ID][]ToolForm
}

// Toolsets returns the toolsets of a session, by a name that no other session of the tenant has. advise is that of toolset.Options; nil
// advises nothing.
func (s *Sender) Toolsets(session string, advise func(err error, skillName string) string) *Toolsets {
	if advise == nil {
		advise = func(error, string) string { return "" }
	}
	return &Toolsets{s: s, session: session, advise: advise, known: map[skill.ID][]ToolForm{}}
}

// Registered reports that the program brings none.
func (t *Toolsets) Registered(string) bool { return false }

// Tools returns the tools of all toolsets of a skill, as toolset.Host.Tools does.
func (t *Toolsets) Tools(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, error) {
	return t.list(ctx, s, admit, "")
}

// ToolsOf is Tools for one toolset.
func (t *Toolsets) ToolsOf(ctx context.Context, s *skill.Skill, admit script.Admit, class string) ([]tool.Tool, error) {
	return t.list(ctx, s, admit, class)
}

// Known returns the tools that the content had when it was last listed in this session.
func (t *Toolsets) Known(ctx context.Context, s *skill.Skill, admit script.Admit) ([]tool.Tool, bool) {
	id, err := s.ID(ctx)
	if err != nil {
		return nil, false
	}
	t.mu.Lock()
	list, ok := t.known[id]
	t.mu.Unlock()
	return t.tools(s, id, admit, list), ok
}

func (t *Toolsets) list(ctx context.Context, s *skill.Skill, admit script.Admit, class string) ([]tool.Tool, error) {
	id, err := s.ID(ctx)
	if err != nil {
		return nil, err
	}
	r, err := t.s.send(ctx, s, admit, &Order{Call: Tools, Session: t.session, Tool: &ToolOf{Class: class}}, nil)
	if r == nil {
		return nil, err
	}
	if err == nil && class == "" {
		t.mu.Lock()
		t.known[id] = r.Tools
		t.mu.Unlock()
	}
	return t.tools(s, id, admit, r.Tools), err
}

// tools returns what a model calls.
func (t *Toolsets) tools(s *skill.Skill, id skill.ID, admit script.Admit, list []ToolForm) []tool.Tool {
	var out []tool.Tool
	for _, f := range list {
		c := &toolCall{t: t, entry: s.Entry(), id: id, admit: admit, of: f}
		out = append(out, tool.Tool{Name: f.Name, Source: id.Name + "." + f.Class, Description: f.Description, Input: f.Input, Call: c.call})
	}
	return out
}

// toolCall calls one tool.
type toolCall struct {
	t     *Toolsets
	entry skill.Entry
	id    skill.ID
	admit script.Admit
	of    ToolForm
}

func (c *toolCall) call(ctx context.Context, args json.RawMessage) tool.Result {
	begun := time.Now()
	r, lacked, err := c.answer(ctx, args)
	if err != nil {
		r = tool.Interrupted(ctx).Failure(err.Error())
		if ctx.Err() == nil {
			r, lacked = tool.CauseUnknown.Failure(err.Error()), err
			if e, ok := errors.AsType[*script.Error](err); ok {
				r.Error, r.Reason = tool.Code(e.Code), e.Reason
			}
		}
	}
	if lacked != nil {
		advise := func(err error) string { return c.t.advise(err, c.id.Name) }
		tool.NotifyLacked(ctx, lacked, advise)
		r.Message = strings.TrimSpace(r.Message + "\n" + advise(lacked))
	}
	e := trace.Event{Kind: trace.ToolsetCalled, Level: slog.LevelDebug, Skill: c.id.Name, Tool: c.of.Class + "." + c.of.Name, Duration: time.Since(begun)}
	if e.Message = "Called " + e.Tool; r.Error != "" {
		e.Level, e.Message = slog.LevelWarn, "Call of "+e.Tool+" failed"
		e.Attrs = []slog.Attr{slog.String(trace.AttrCode, string(r.Error)), slog.String(trace.AttrReason, r.Reason)}
	}
	trace.Emit(ctx, c.t.s.o.Trace, e)
	return r
}

// answer returns the result of the tool, and what it lacked.
func (c *toolCall) answer(ctx context.Context, args json.RawMessage) (tool.Result, error, error) {
	s, err := c.entry.Load(ctx)
	if err != nil {
		return tool.Result{}, nil, err
	}
	defer s.Close()
	if id, err := s.ID(ctx); err != nil || id != c.id {
		return tool.Result{}, nil, errors.Join(err, fmt.Errorf("the skill '%s' has changed since its tools were listed: list them again", c.id.Name))
	}
	r, err := c.t.s.send(ctx, s, c.admit, &Order{Call: Tool, Session: c.t.session, Tool: &ToolOf{c.of.Class, c.of.Name, args}, Watch: tool.Watched(ctx)},
		func(p *Part) error {
			tool.Notify(ctx, tool.Event{Kind: tool.EventOutput, Text: string(p.Data)})
			return nil
		})
	if err != nil {
		return tool.Result{}, nil, err
	}
	return r.Answer.result(), r.Answer.lacked(), nil
}
