package mcphost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// server is one configured server.
type server struct {
	Server
	h    *Host
	keep Keeper[*running]

	mu      sync.Mutex
	seen    seen                  // as it was last seen
	listed  bool                  // it was seen
	stale   bool                  // it says that its tools have changed since
	changed map[string]*Described // tools that are not what they were when they were looked at, as they are now
	errs    []error               // of its tools
	last    error                 // the last failure; nil if it works
	calls   int64
	news    bool // a list changed since Host.News
}

func newServer(h *Host, o Server) (*server, error) {
	if err := CheckLabel(o.Label); err != nil {
		return nil, err
	}
	if (o.Run == nil) == (o.URL == "") {
		return nil, fmt.Errorf("MCP server %s: it needs either a program or a URL", o.Label)
	}
	if o.URL != "" {
		if err := CheckURL(o.URL); err != nil {
			return nil, fmt.Errorf("MCP server %s: %w", o.Label, err)
		}
	}
	s := &server{Server: o, h: h, changed: map[string]*Described{}}
	s.Timeout = cmp.Or(max(o.Timeout, 0), defaultCall)
	s.Start = cmp.Or(max(o.Start, 0), h.o.start)
	s.keep.Begin, s.keep.Now = s.begin, func() time.Time { return h.now() }
	s.seen, s.listed = s.recorded()
	return s, nil
}

func (s *server) fault(kind Kind, message string, err error) *ServerError {
	return &ServerError{Label: s.Label, Kind: kind, Message: s.plain(message), Err: err}
}

// plain returns a text of the server for people and models.
func (s *server) plain(text string) string {
	if s.Redact != nil {
		text = s.Redact(text)
	}
	return Plain(text, maxMessageText)
}

// maxMessageText is how many bytes of a message are shown.
const maxMessageText = 4 << 10

// ready returns the connection to the server, which it starts if there is none. The error is that of ctx or a *ServerError.
func (s *server) ready(ctx context.Context) (*running, error) {
	r, err := s.keep.Ready(ctx)
	if err == nil || ctx.Err() != nil {
		return r, err
	}
	var wait *WaitError
	switch {
	case errors.Is(err, ErrClosed):
		err = s.fault(KindClosed, err.Error(), nil)
	case errors.As(err, &wait):
		short := *wait
		if e, ok := errors.AsType[*ServerError](wait.Last); ok {
			short.Last = errors.New(e.Message)
		}
		err = s.fault(KindWait, short.Error(), wait.Last)
	}
	s.note(err)
	return nil, err
}

// note remembers the last failure, for Host.Info.
func (s *server) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = err
}

// begin connects to the server, and asks it for its tools.
func (s *server) begin(ctx context.Context) (*running, error) {
	begun := s.h.now()
	r, err := s.connect(ctx)
	e := trace.Event{Kind: trace.ServerStarted, Level: slog.LevelDebug, Tool: "mcp." + s.Label, Message: "Started MCP server " + s.Label, Duration: s.h.now().Sub(begun), Err: err}
	if err != nil {
		e.Kind, e.Level, e.Message = trace.ServerFailed, slog.LevelError, "MCP server "+s.Label+" failed"
		if ctx.Err() == nil {
			s.keep.Failed(err, s.h.now(), e.Duration)
		}
	}
	trace.Emit(ctx, s.h.o.Trace, e)
	return r, err
}

// list asks the server for its tools, unless they are known and have not changed.
func (s *server) list(ctx context.Context) error {
	if s.known() {
		return nil
	}
	return s.use(ctx, func(ctx context.Context, r *running) error {
		if s.known() { // since the start
			return nil
		}
		return s.relist(ctx, r.c)
	})
}

// use lets f use the server, for at most the time of a call, and once more if the server has forgotten the conversation meanwhile. The error is
// that of ctx or a *ServerError.
func (s *server) use(ctx context.Context, f func(context.Context, *running) error) error {
	for again := true; ; again = false {
		r, err := s.ready(ctx)
		if err != nil {
			return err
		}
		err = s.failed(ctx, r, r.limited(ctx, func(ctx context.Context) error { return f(ctx, r) }))
		if !again || !errors.Is(err, errGone) {
			return err
		}
	}
}

// known reports whether the tools of the server are known.
func (s *server) known() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed && !s.stale
}

// relist takes over the list of tools.
func (s *server) relist(ctx context.Context, c *Conn) error {
	if !c.has("tools") {
		s.accept(ctx, c, nil, nil)
		return nil
	}
	tools, errs, err := s.catalogue(ctx, c)
	if err == nil {
		s.accept(ctx, c, tools, errs)
	}
	return err
}

// call calls a tool, which has that name for models.
func (s *server) call(ctx context.Context, name string, d *Described, args []byte) tool.Result {
	begun := time.Now()
	r := s.answer(ctx, d, args)
	e := trace.Event{Kind: trace.ServerCalled, Level: slog.LevelDebug, Tool: name, Duration: time.Since(begun)}
	if e.Message = "Called " + e.Tool; r.Error != "" {
		e.Level, e.Message = slog.LevelWarn, "Call of "+e.Tool+" failed"
		e.Attrs = []slog.Attr{slog.String(trace.AttrCode, string(r.Error)), slog.String(trace.AttrReason, r.Reason)}
	}
	trace.Emit(ctx, s.h.o.Trace, e)
	return r
}

func (s *server) answer(ctx context.Context, d *Described, args []byte) tool.Result {
	var progress func(*Progress)
	if tool.Watched(ctx) {
		progress = func(p *Progress) {
			tool.Notify(ctx, tool.Event{Kind: tool.EventProgress, Text: s.plain(p.Message), Done: p.Done, Total: p.Total})
		}
	}
	var res *Result
	err := s.use(ctx, func(ctx context.Context, r *running) (err error) {
		if err := s.refused(d); err != nil {
			return err
		}
		res, err = r.c.Call(ctx, d.Name, args, progress)
		return err
	})
	if err != nil {
		return s.failure(ctx, d.Name, err)
	}
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	return s.result(res)
}

// failed returns the error of a use of the server as that of ctx or a *ServerError; nil for none. It notes that the server works, or asks for a sign of life.
func (s *server) failed(ctx context.Context, r *running, err error) error {
	var rpc *Error
	var own *ServerError
	switch {
	case err == nil:
		s.keep.Worked()
		s.note(nil)
		return nil
	case ctx.Err() != nil:
		r.c.Check(ctx, s.h.ping)
		return ctx.Err()
	case r.c.forgotten():
		r.Stop()
		return s.fault(KindCrash, errGone.Error(), errGone)
	case errors.Is(err, errTooLong):
		r.c.Check(ctx, s.h.ping)
		err = s.fault(KindTimeout, fmt.Sprintf("it did not answer within %s", s.Timeout), nil)
	case errors.As(err, &rpc):
		s.keep.Worked()
		err = s.fault(KindAnswer, rpc.Message, err)
	case errors.As(err, &own):
	case errors.Is(err, errLogin):
		err = s.fault(KindLogin, errLogin.Error(), err)
	default:
		err = r.broken(ctx, err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.note(err)
	return err
}

// failure returns the result of a call that failed.
func (s *server) failure(ctx context.Context, name string, err error) tool.Result {
	if ctx.Err() != nil {
		return tool.Interruption(ctx, fmt.Sprintf("Tool '%s' of MCP server %s", name, s.Label))
	}
	e, ok := errors.AsType[*ServerError](err)
	if !ok {
		return tool.CauseUnknown.Failure(err.Error())
	}
	switch e.Kind {
	case KindTimeout:
		return tool.CauseTimeout.Failure(fmt.Sprintf("Tool '%s': %v", name, err))
	case KindAnswer:
		return tool.CauseUnknown.Failure(fmt.Sprintf("Tool '%s' failed: %s", name, e.Message))
	}
	r := tool.CauseUnknown.Failure(strings.TrimSpace(err.Error()))
	r.Reason = "server_" + string(e.Kind)
	return r
}
