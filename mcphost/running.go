package mcphost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/trace"
)

// running is a connection to a server.
type running struct {
	s      *server
	c      *Conn
	cancel context.CancelFunc // ends it
	uses   context.Context    // over when it ends, or is asked to
	hangUp context.CancelFunc // ends all uses

	done chan struct{} // closed when it is gone and err is set
	err  error         // why it ended; nil if it was asked to

	mu       sync.Mutex
	stopping bool
	unused   bool   // it could not be used: how it ends is of no interest, but for what Run says
	verdict  string // why it was ended; "" if it was not
	limits   map[*limit]bool
}

// connect connects to the server and asks it for its tools.
func (s *server) connect(ctx context.Context) (*running, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{s: s, cancel: cancel, done: make(chan struct{}), limits: map[*limit]bool{}}
	r.uses, r.hangUp = context.WithCancel(life)
	r.c = New(r.options())
	ready := make(chan struct{})
	var once sync.Once
	go func() {
		err := s.serve(life, r.c, func() { once.Do(func() { close(ready) }) })
		r.gone(life, err)
	}()
	err := r.greet(ctx, ready)
	if err == nil {
		return r, nil
	}
	r.mu.Lock()
	r.unused = true
	r.mu.Unlock()
	r.kill("")
	<-r.done
	return nil, r.unready(ctx, err)
}

// options are those of the conversation.
func (r *running) options() *Options {
	o := &Options{Kill: r.kill, Changed: r.s.heard}
	if r.s.URL != "" {
		o.remote = newRemote(r.s.URL, r.s.Client, r.kill)
		o.remote.begin = r.s.h.begin
	}
	if elicit := r.s.h.o.Elicit; elicit != nil {
		o.Elicit = func(ctx context.Context, q *Question) (*Answer, error) {
			r.pause()
			defer r.resume()
			q.Label = r.s.Label
			return elicit(ctx, q)
		}
	}
	return o
}

// serve carries the conversation until the server is gone.
func (s *server) serve(ctx context.Context, c *Conn, started func()) error {
	if r := c.o.remote; r != nil {
		started()
		return r.carry(ctx, c)
	}
	return s.Run(ctx, &Pipes{In: c.In(), Out: c.Out(), Err: c.Err(), Started: started})
}

var (
	errNotReady = errors.New("it was not ready in time")
	errTooLong  = errors.New("it did not answer in time")
	errOver     = errors.New("it has ended")
)

// greet waits for the start of the process, and asks it for its tools.
func (r *running) greet(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.s.Start, errNotReady)
	defer cancel()
	err := r.c.Connect(limited)
	if err == nil {
		err = r.s.relist(limited, r.c)
	}
	if err != nil && context.Cause(limited) == errNotReady { //nolint:errorlint // it is this one
		return errNotReady
	}
	return err
}

// unready returns the error of a server that could not be used. It is gone.
func (r *running) unready(ctx context.Context, err error) error {
	var own *ServerError
	var rpc *Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotReady) && r.err == nil:
		return r.fault(KindStart, fmt.Sprintf("it did not say within %s which tools it has", r.s.Start), nil)
	case errors.As(r.err, &own), errors.As(err, &own):
		return own
	case errors.Is(err, errLogin):
		return r.s.fault(KindLogin, errLogin.Error(), err)
	case errors.As(err, &rpc):
		return r.fault(KindProtocol, "it refused the conversation: "+rpc.Message, err)
	case err == nil:
		return r.fault(KindStart, "it ended at once", nil)
	}
	if r.s.URL != "" {
		return r.s.fault(KindStart, "it cannot be used: "+cause(err)+former(err), err)
	}
	return r.fault(KindProtocol, "it does not speak MCP: "+err.Error(), err)
}

// cause returns why a request failed, without the words of the layers between.
func cause(err error) string {
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err.Error()
	}
	return strings.ReplaceAll(err.Error(), rejected+": ", "")
}

// former says, of an error to the first message, what may be the reason: a server of the transport before streamable HTTP takes only GET.
func former(err error) string {
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed} {
		if strings.HasSuffix(err.Error(), http.StatusText(status)) {
			return "; the address must be one for streamable HTTP, often /mcp, and not /sse"
		}
	}
	return ""
}

// fault returns a failure with what the process wrote last.
func (r *running) fault(kind Kind, message string, err error) *ServerError {
	e := r.s.fault(kind, message, err)
	recent, _ := r.c.Recent()
	if e.Trace = r.s.plain(LastLines(recent)); e.Trace != "" {
		return e
	}
	if s := r.c.Strays(); s.Lines > 0 {
		e.Trace = r.s.plain(fmt.Sprintf("(it wrote %d lines to standard output that are no messages, such as %q)", s.Lines, s.First))
	}
	return e
}

// gone notes how the server ended.
func (r *running) gone(ctx context.Context, err error) {
	r.mu.Lock()
	asked, unused, verdict := r.stopping, r.unused, r.verdict
	r.mu.Unlock()
	r.c.End()
	r.hangUp()
	r.cancel()
	switch {
	case verdict != "":
		r.err = r.fault(KindCrash, "it was ended: "+verdict, nil)
	case asked, errors.Is(err, errGone):
	case unused: // unless it says what it lacked
		if own, ok := errors.AsType[*ServerError](err); ok {
			r.err = own
		}
	case err != nil:
		r.err = r.ended(err)
	default:
		r.err = r.fault(KindCrash, "it ended by itself", nil)
	}
	if r.err != nil {
		r.s.note(r.err)
	}
	r.s.keep.Gone(r, r.err)
	e := trace.Event{Kind: trace.ServerEnded, Level: slog.LevelDebug, Tool: "mcp." + r.s.Label, Message: "Ended MCP server " + r.s.Label, Err: r.err}
	if r.err != nil {
		e.Level = slog.LevelWarn
	}
	trace.Emit(ctx, r.s.h.o.Trace, e)
	close(r.done)
}

// ended returns the failure of a server that ended with an error.
func (r *running) ended(err error) error {
	var own *ServerError
	if errors.As(err, &own) {
		return own
	}
	return r.fault(KindCrash, err.Error(), err)
}

// kill ends the server at once, for a reason. The first reason counts. It does not wait.
func (r *running) kill(why string) {
	r.mu.Lock()
	if r.verdict == "" && !r.stopping {
		r.verdict = why
	}
	r.mu.Unlock()
	r.c.Close()
	r.cancel()
}

// broken returns why a use of the server failed with an error that is not the server's. It ends a server that gives no sign of life.
func (r *running) broken(ctx context.Context, err error) error {
	limited, cancel := context.WithTimeout(ctx, r.s.h.ping)
	defer cancel()
	if r.Take() && r.c.Alive(limited) == nil {
		return r.s.fault(KindProtocol, "its answer cannot be used: "+cause(err), err)
	}
	select {
	case <-r.c.Ended():
	default:
		r.kill(Plain(err.Error(), maxMessageText))
	}
	<-r.done
	if r.err != nil {
		return r.err
	}
	return r.s.fault(KindClosed, "it ended during the call", nil)
}

// Stop asks the server to end, ends it if it does not, and waits for that.
func (r *running) Stop() {
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	r.hangUp()
	r.c.Close()
	timer := time.AfterFunc(endGrace, r.cancel)
	defer timer.Stop()
	<-r.done
}

// Take reports whether the server can be used.
func (r *running) Take() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.stopping && r.verdict == ""
}

// Settled waits until it is known whether the server answers.
func (r *running) Settled(ctx context.Context) error { return r.c.Settled(ctx) }

// Done is closed when the server is gone.
func (r *running) Done() <-chan struct{} { return r.done }

// limit is the time that a use of the server has left.
type limit struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

// pause stops the time of all uses: the user is asked something.
func (r *running) pause() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.limits {
		if l.timer.Stop() {
			l.left -= time.Since(l.since)
		}
	}
}

// resume goes on with the time of all uses.
func (r *running) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.limits {
		l.since = time.Now()
		l.timer.Reset(max(l.left, time.Second))
	}
}

// limited lets f use the server for at most the time of a call. What a person takes to answer a question does not count.
func (r *running) limited(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.uses, func() { cancel(errOver) })()
	l := &limit{timer: time.AfterFunc(r.s.Timeout, func() { cancel(errTooLong) }), left: r.s.Timeout, since: time.Now()}
	r.mu.Lock()
	r.limits[l] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.limits, l)
		r.mu.Unlock()
		l.timer.Stop()
	}()
	err := f(ctx)
	if cause := context.Cause(ctx); err != nil && (cause == errTooLong || cause == errOver) { //nolint:errorlint // it is one of these
		return cause
	}
	return err
}
