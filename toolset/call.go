package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// tool returns what a model calls.
func (o *owner) tool(l listed) tool.Tool {
	return tool.Tool{
		Name: l.Name, Source: o.name + "." + l.Class, Description: l.Description, Input: l.Input,
		Call: func(ctx context.Context, args json.RawMessage) tool.Result { return l.call(ctx, args) },
	}
}

// call calls the tool.
func (l *listed) call(ctx context.Context, args json.RawMessage) tool.Result {
	begun := time.Now()
	r := l.answer(ctx, args)
	e := trace.Event{Kind: trace.ToolsetCalled, Level: slog.LevelDebug, Skill: l.unit.owner.name, Tool: l.Class + "." + l.Name, Duration: time.Since(begun)}
	if e.Message = "Called " + e.Tool; r.Error != "" {
		e.Level, e.Message = slog.LevelWarn, "Call of "+e.Tool+" failed"
		e.Attrs = []slog.Attr{slog.String(trace.AttrCode, string(r.Error)), slog.String(trace.AttrReason, r.Reason)}
	}
	trace.Emit(ctx, l.unit.owner.h.o.Trace, e)
	return r
}

func (l *listed) answer(ctx context.Context, args json.RawMessage) tool.Result {
	l.unit.renew(func(p *process) bool { return l.failure(p) != nil || p.regranted(ctx) })
	p, err := l.unit.ready(ctx)
	if err != nil {
		return l.unit.failure(ctx, err)
	}
	defer p.give()
	if e := l.failure(p); e != nil {
		e.Message += l.unit.until()
		return l.unit.failure(ctx, e)
	}
	if err := l.unit.denied(l.Wire); err != nil {
		return l.unit.failure(ctx, err)
	}
	return l.ask(ctx, p, args)
}

// failure returns why a process does not have the tool, if its toolset could not be loaded; else nil.
func (l *listed) failure(p *process) *Error {
	if slices.ContainsFunc(p.tools, func(have listed) bool { return have.Wire == l.Wire }) {
		return nil
	}
	for _, err := range p.errs {
		var e *Error
		if errors.As(err, &e) && e.Toolset == l.unit.toolset(l.Class) {
			own := *e
			return &own
		}
	}
	return nil
}

// ask asks a process.
func (l *listed) ask(ctx context.Context, p *process, args json.RawMessage) tool.Result {
	u := l.unit
	limited, cancel := context.WithTimeout(ctx, u.limit())
	defer cancel()
	before := p.c.Strays()
	progress, end := p.watch(ctx)
	defer end()
	res, err := p.c.Call(limited, l.Wire, args, progress)
	if err == nil {
		u.keep.Worked()
		r := u.owner.h.result(p, res)
		r.Media = res.Media
		return p.explained(ctx, args, r)
	}
	var rpc *mcphost.Error
	switch {
	case limited.Err() != nil:
		p.c.Check(ctx, u.owner.h.ping)
		if ctx.Err() != nil {
			return tool.Interrupted(ctx).Failure(fmt.Sprintf("Tool '%s' was cancelled%s", l.Name, givenUp(ctx.Err())))
		}
		return tool.CauseTimeout.Failure(fmt.Sprintf("Tool '%s' did not answer within %s%s", l.Name, u.limit(), p.printed(&before)))
	case errors.As(err, &rpc):
		u.keep.Worked()
		return p.explained(ctx, args, tool.CauseUnknown.Failure(p.serving.Redact.String(fmt.Sprintf("Tool '%s' failed: %s", l.Name, describe(rpc.Message)))))
	}
	<-p.broken(err)
	if p.err != nil {
		return u.failure(ctx, p.err)
	}
	return tool.CauseUnknown.Failure(fmt.Sprintf("Tool '%s' failed: its toolset ended during the call", l.Name))
}

// explained adds to a failed result what the program lacked, if that shows, and what a person can do about it.
func (p *process) explained(ctx context.Context, args json.RawMessage, r tool.Result) tool.Result {
	if r.Success {
		return r
	}
	e := p.serving.Lacked(ctx, string(args), r.Message)
	if e == nil {
		return r
	}
	p.lacking.Store(true)
	r.Reason = cmp.Or(r.Reason, e.Reason)
	r.Message = strings.TrimSpace(r.Message + "\n(" + e.Message + ")")
	return p.u.advised(ctx, r, e)
}

// regranted reports whether a call failed for want of something, and the user has granted something since.
func (p *process) regranted(ctx context.Context) bool {
	return p.lacking.Load() && p.serving.Regranted(ctx)
}

// advised adds what a person can do about an error, and tells the watch of the call what it lacked.
func (u *unit) advised(ctx context.Context, r tool.Result, err error) tool.Result {
	advise := func(err error) string {
		if u.owner.h.o.Advise == nil {
			return ""
		}
		return u.owner.h.o.Advise(err, u.owner.name)
	}
	tool.NotifyLacked(ctx, err, advise)
	r.Message = strings.TrimSpace(r.Message + "\n" + advise(err))
	return r
}

// givenUp says why a call was given up, after a colon; nothing if somebody wanted it.
func givenUp(err error) string {
	if errors.Is(err, context.Canceled) {
		return ""
	}
	return ": " + err.Error()
}

// broken ends a process whose conversation has ended, and returns what is closed when it is gone.
func (p *process) broken(err error) <-chan struct{} {
	select {
	case <-p.c.Ended():
	default:
		p.kill(describe(err.Error()))
	}
	return p.done
}

// failure returns the result for an error of a start.
func (u *unit) failure(ctx context.Context, err error) tool.Result {
	if ctx.Err() != nil {
		return tool.Interrupted(ctx).Failure(err.Error())
	}
	r := u.advised(ctx, tool.CauseUnknown.Failure(err.Error()), err)
	var e *Error
	if errors.As(err, &e) {
		r.Reason = "toolset_" + string(e.Kind)
	}
	return withCode(r, err)
}
