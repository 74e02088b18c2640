package run

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/explain"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/layer"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Done is what became of a call.
type Done struct {
	Out    *runner.Output
	Missed *explain.Finding // what a script that did not fail, or a hook, was kept from; nil for nothing
	Note   string           // of the grant, of where it starts, and of what became of files
	Facts  []slog.Attr      // about the command that ended, for the trace
}

// note adds a remark.
func (d *Done) note(text string) { d.Note = Joined(d.Note, text) }

// Joined joins two remarks, of which either may be empty.
func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// attempt is a call that is being made.
type attempt struct {
	e     *Engine
	o     *plan.Operator // with the variables of the grant
	c     *Call
	r     *plan.Run
	of    *envs.Of // what packages are wanted for
	place *places.Workplace
	layer *layer.Layer        // may be nil
	seen  func() explain.Seen // what the texts of the skill's scripts want
	done  Done
}

// Admitted calls a function with the call of the skill that admit returns; nil for the call's own. Nothing is swept meanwhile. What it waits
// for that is taken from the time of the call.
func (e *Engine) Admitted(ctx context.Context, c *Call, admit func(context.Context, *skill.Skill) (*skill.Skill, error), work func() error) error {
	begun := time.Now()
	done, err := e.o.Places.Use(ctx, c.Timeout)
	if err != nil {
		return err
	}
	defer done()
	c.Timeout -= time.Since(begun).Truncate(time.Second)
	if admit == nil {
		return work()
	}
	s, err := admit(ctx, c.Skill)
	if err != nil {
		return err
	}
	if s != c.Skill {
		defer s.Close()
		c.Skill = s
	}
	return work()
}

// begin returns an attempt at a call: it finds where the skill lies, and what it was granted.
func (e *Engine) begin(ctx context.Context, c *Call) (*attempt, error) {
	dir, file, err := c.place(ctx)
	if err != nil {
		return nil, err
	}
	uncached, err := c.leftovers(ctx)
	if err != nil {
		return nil, err
	}
	grant, err := e.Granted(ctx, c.Skill)
	if err != nil {
		return nil, err
	}
	of := &envs.Of{Skill: c.Skill, Script: c.Script, With: plan.Packages(&grant)}
	if c.Serves != nil && len(c.Serves.Files) > 0 {
		of.Also, of.Else = c.Serves.Files[1:], c.Else
	}
	parent := ""
	if c.Serves == nil { // such a program outlives the call that starts it
		parent = trace.ParentOf(ctx)
	}
	passes := plan.PassingOf(&grant)
	return &attempt{e: e, o: e.o.Operator.With(grant.Env), c: c, of: of,
		r: &plan.Run{Asked: c.Asked, Foreign: c.Hook != nil || c.Serves != nil, Grant: &grant, Passes: passes, Parent: parent,
			Start: plan.Start{Dir: dir, File: file, Uncached: uncached}},
		seen: sync.OnceValue(func() explain.Seen {
			if e.o.Seen == nil {
				return explain.Seen{}
			}
			return e.o.Seen(ctx, c.Skill)
		})}, nil
}

// settle makes the folders of the attempt.
func (a *attempt) settle(ctx context.Context) (err error) {
	if a.place, err = a.e.o.Places.Workplace(ctx, a.c.Skill, a.r.Grant); err != nil {
		return &fail.Error{Code: fail.ExecutionFailed, Err: err, Message: fmt.Sprintf("Script %s has no work directory: %v", a.c.Script.Name, err)}
	}
	a.r.Folders = a.place.Folders
	return nil
}

// traceNetwork traces the hosts that a command reached and was refused.
func (a *attempt) traceNetwork(ctx context.Context, out *runner.Output) {
	event := func(kind trace.Kind, host string) {
		trace.Emit(ctx, a.e.o.Trace, trace.Event{Kind: kind, Level: slog.LevelDebug, Skill: a.c.Skill.Canonical(), Script: a.c.Script.Name,
			Attrs: []slog.Attr{slog.String(trace.AttrHost, host)}})
	}
	for _, host := range out.Reached {
		event(trace.NetworkAllowed, host)
	}
	for _, r := range out.Refused {
		event(trace.NetworkRefused, r.Host)
	}
}
