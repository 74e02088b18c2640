package toolset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/trace"
)

// process is a running program.
type process struct {
	u       *unit
	c       *mcphost.Conn
	cancel  context.CancelFunc // ends it
	serving *script.Serving    // set before the program starts
	tools   []listed
	errs    []error

	done   chan struct{} // closed when it is gone and err is set
	err    error         // why it ended; nil if it was asked to
	stderr []byte        // its end

	lacking atomic.Bool // a call failed for want of something that a person may grant

	mu       sync.Mutex
	calls    int
	idle     *time.Timer
	stopping bool
	unused   bool                    // it could not be used: how it ends is of no interest
	verdict  string                  // why it was killed; "" if it was not
	watching map[int]context.Context // those of calls that somebody watches
	watches  int                     // how many there were
}

// start starts the program and asks for its tools.
func (u *unit) start(ctx context.Context) (*process, error) {
	h := u.owner.h
	begun := h.now()
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &process{u: u, cancel: cancel, done: make(chan struct{})}
	p.c = mcphost.New(&mcphost.Options{Kill: p.kill})
	ready := make(chan struct{})
	s, err := u.load(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	o, err := u.serveOptions()
	if err != nil {
		cancel()
		s.Close()
		return nil, u.wrapped(err)
	}
	o.In, o.Out, o.Err = p.c.In(), p.c.Out(), &printer{all: p.c.Err(), p: p}
	o.Started = func(sv *script.Serving) {
		p.serving = sv
		close(ready)
	}
	go func() {
		defer s.Close()
		served, err := h.o.Scripts.Serve(life, s, o)
		p.gone(life, served, err)
	}()
	err = p.greet(ctx, ready)
	if err != nil {
		p.discard()
		err = p.unready(ctx, err)
		if ran(ready) && ctx.Err() == nil {
			u.keep.Failed(err, h.now(), h.now().Sub(begun))
		}
	}
	trace.Emit(ctx, h.o.Trace, started(u, begun, h.now(), err))
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ran reports whether a program was started. One that was not may be tried again at once.
func ran(ready <-chan struct{}) bool {
	select {
	case <-ready:
		return true
	default:
		return false
	}
}

// discard ends a program that could not be used.
func (p *process) discard() {
	p.mu.Lock()
	p.unused = true
	p.mu.Unlock()
	p.kill("")
	<-p.done
}

// greet waits for the start of the program, and asks it for its tools.
func (p *process) greet(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
	limited, cancel := context.WithTimeoutCause(ctx, p.u.patience(), errNotReady)
	defer cancel()
	err := p.c.Connect(limited)
	if err == nil {
		p.tools, p.errs, err = p.u.catalogue(limited, p.c)
		p.explain(limited)
	}
	if err != nil && context.Cause(limited) == errNotReady { //nolint:errorlint // it is this one
		return errNotReady
	}
	return err
}

// explain adds to the toolsets that could not be loaded what they lacked, if that shows.
func (p *process) explain(ctx context.Context) {
	for _, err := range p.errs {
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Err != nil || e.Package != "" {
			continue
		}
		if lacked := p.serving.Lacked(ctx, "", e.Message+"\n"+e.Trace); lacked != nil {
			e.Message, e.Err = e.Message+" ("+lacked.Message+")", lacked
		}
	}
}

var errNotReady = errors.New("it was not ready in time")

// unready returns the error of a program that could not be used. It is gone.
func (p *process) unready(ctx context.Context, err error) error {
	var own *Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotReady):
		e := p.u.fault("", KindStart, fmt.Sprintf("it did not say within %s which tools it has", p.u.patience()))
		e.Trace = p.said()
		return e
	case errors.As(p.err, &own):
		return own
	case errors.As(err, &own):
		return own
	}
	e := p.u.fault("", KindProtocol, "it does not speak MCP: "+describe(err.Error()))
	e.Trace, e.Err = p.said(), err
	return e
}

// gone notes how the program ended.
func (p *process) gone(ctx context.Context, served *script.Served, err error) {
	p.mu.Lock()
	asked, verdict := p.stopping || p.unused, p.verdict
	if p.idle != nil {
		p.idle.Stop()
	}
	p.mu.Unlock()
	p.c.End() // from here on a start or a call may give the process up: that is not why it ended
	p.cancel()
	if served != nil {
		p.stderr = served.Stderr
	}
	switch {
	case verdict != "":
		p.err = p.fault(KindCrash, "it was ended: "+verdict, nil)
	case asked:
	case err != nil:
		p.err = p.u.wrapped(err)
	case served != nil:
		p.err = p.ended(served)
	}
	p.u.keep.Gone(p, p.err)
	trace.Emit(ctx, p.u.owner.h.o.Trace, endedEvent(p, served))
	close(p.done)
}

// fault returns a failure with what the program wrote last.
func (p *process) fault(kind Kind, message string, err error) *Error {
	e := p.u.fault("", kind, message)
	e.Err, e.Trace = err, p.said()
	return e
}

// ended returns the failure of a program that ended by itself.
func (p *process) ended(s *script.Served) *Error {
	text := fmt.Sprintf("it ended with exit code %d", s.ExitCode)
	switch {
	case s.Limit != "":
		text += " " + s.Limit
	case s.Cause != nil:
		return p.fault(KindCrash, text+": "+s.Cause.Message, s.Cause)
	}
	return p.fault(KindCrash, text, nil)
}

// said returns the last lines that a program that is gone wrote to standard error, or what it wrote to standard output in place of messages.
func (p *process) said() string {
	if text := mcphost.LastLines(p.stderr); text != "" {
		return text
	}
	if s := p.c.Strays(); s.Lines > 0 {
		return fmt.Sprintf("(it wrote %d lines to standard output that are no messages, such as %q)", s.Lines, p.serving.Redact.String(s.First))
	}
	return ""
}

// printed returns what was printed during a call that was not answered: how much if it is much, and the last lines.
func (p *process) printed(before *mcphost.Strays) string {
	s := p.c.Strays()
	n := s.Printed - before.Printed + s.Bytes - before.Bytes
	text := ""
	if n >= loop {
		text = fmt.Sprintf(", and printed %d MiB meanwhile", n>>20)
	}
	if s.Printed == before.Printed {
		return text
	}
	recent, all := p.c.Recent()
	end := p.serving.Redact.Bytes(p.serving.Redact.Cut(recent, !all, true))
	if lines := mcphost.LastLines(end); lines != "" {
		text += "\nIt printed last:\n" + lines
	}
	return text
}

// loop is how many bytes are mentioned when a call was not answered: it probably prints in a loop.
const loop = 1 << 20

// kill ends the program at once, for a reason. The first reason counts. It does not wait.
func (p *process) kill(why string) {
	p.mu.Lock()
	if p.verdict == "" && !p.stopping {
		p.verdict = why
	}
	p.mu.Unlock()
	p.c.Close()
	p.cancel()
}

// Stop asks the program to end, ends it if it does not, and waits for that.
func (p *process) Stop() {
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	p.c.Close()
	timer := time.AfterFunc(endGrace, p.cancel)
	defer timer.Stop()
	<-p.done
}

// leave reports whether nobody uses the program, and then lets nobody begin to.
func (p *process) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls > 0 || p.stopping {
		return false
	}
	p.stopping = true
	return true
}

// Done is closed when the program is gone.
func (p *process) Done() <-chan struct{} { return p.done }

// Settled waits until it is known whether the program answers.
func (p *process) Settled(ctx context.Context) error { return p.c.Settled(ctx) }

// Take begins a call. It reports false if the program is ending.
func (p *process) Take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping || p.verdict != "" {
		return false
	}
	p.calls++
	if p.idle != nil {
		p.idle.Stop()
	}
	return true
}

// give ends a call.
func (p *process) give() {
	p.mu.Lock()
	p.calls--
	p.mu.Unlock()
	p.rest()
}

// rest has the program end when nobody calls it for a while.
func (p *process) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls > 0 || p.stopping || p.verdict != "" {
		return
	}
	if p.idle == nil {
		p.idle = time.AfterFunc(p.u.owner.h.o.idle, p.expire)
		return
	}
	p.idle.Reset(p.u.owner.h.o.idle)
}

// expire ends the program unless a call has begun.
func (p *process) expire() {
	if p.leave() {
		p.Stop()
	}
}

func started(u *unit, begun, now time.Time, err error) trace.Event {
	e := trace.Event{Kind: trace.ToolsetStarted, Level: slog.LevelDebug, Skill: u.owner.name, Message: "Started toolset " + u.toolset(""), Duration: now.Sub(begun), Err: err}
	if err != nil {
		e.Kind, e.Level, e.Message = trace.ToolsetFailed, slog.LevelError, "Toolset "+u.toolset("")+" failed"
	}
	return e
}

func endedEvent(p *process, served *script.Served) trace.Event {
	e := trace.Event{Kind: trace.ToolsetEnded, Level: slog.LevelDebug, Skill: p.u.owner.name, Message: "Ended toolset " + p.u.toolset(""), Err: p.err}
	if p.err != nil {
		e.Level = slog.LevelWarn
	}
	if served != nil {
		e.Duration = served.Duration
		s := p.c.Strays()
		e.Attrs = []slog.Attr{slog.Int(trace.AttrExitCode, served.ExitCode), slog.Int64(trace.AttrStdout, served.Stdout), slog.Int(trace.AttrStderr, len(served.Stderr)),
			slog.String(trace.AttrSandbox, served.Sandbox.Tier), slog.Int64("stray_lines", s.Lines)}
	}
	return e
}
