// Package wire holds what the packages of model providers share about HTTP: a client that takes nothing from the
// environment, an exchange that can neither stall nor grow without limit, and parsers for waits that servers ask for and
// for arguments that models write.
//
// It knows no provider. It does not retry, follow redirects (a key must not go where a server points) or
// print. A Client is safe for concurrent use; an Exchange belongs to one request and to the goroutine that reads it.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// Limits of one exchange.
const (
	DefaultIdle  = 120 * time.Second // the longest silence, if Options.Idle is 0
	MaxBody      = 64 << 20          // bytes of an answer, after decompression
	MaxLine      = 4 << 20           // bytes of a line of it
	MaxErrorBody = 64 << 10          // bytes that are kept of the answer to a failed request
)

// Options configures Client.
type Options struct {
	Provider string        // the package's name, for errors
	HTTP     *http.Client  // sends the requests; nil means a new client without a proxy
	Idle     time.Duration // the longest silence before and within an answer; 0 means DefaultIdle
}

// Client returns an HTTP client for one provider. Requests sent with it fail with an *llm.Error: of kind Network when
// the server cannot be reached, TimedOut after a silence, Cut when the connection breaks within an answer, Malformed
// when the answer is a web page, over MaxBody or has a line over MaxLine, BadRequest when it is a redirect.
// If the context is done, the error is the context's. The Exchange in the request's context also has the error, because
// net/http wraps it.
func Client(o *Options) *http.Client {
	c := http.Client{}
	if o.HTTP != nil {
		c = *o.HTTP
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	g := &guard{provider: o.Provider, next: c.Transport, idle: o.Idle, limit: c.Timeout}
	c.Timeout = 0
	if g.idle <= 0 {
		g.idle = DefaultIdle
	}
	c.Transport = g
	return &c
}

// transport is net/http's default without the proxies of the environment.
func transport() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        10,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// Exchange records one request.
type Exchange struct {
	Status int         // 0 without an answer
	Header http.Header // of the answer
	Body   []byte      // of an answer with a status of 400 or more, at most MaxErrorBody
	Err    error       // why the exchange failed, see Client; nil if the server ended it properly

	caller context.Context
}

type exchangeKey struct{}

// Begin returns a context for one request and the Exchange that records it.
func Begin(ctx context.Context) (context.Context, *Exchange) {
	x := &Exchange{caller: ctx}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// errSilent is the cause of a cancellation by the timer.
var errSilent = errors.New("silence")

// guard is the transport of a Client.
type guard struct {
	provider string
	next     http.RoundTripper
	idle     time.Duration
	limit    time.Duration // of a whole exchange, where Options.HTTP has a Timeout
}

// RoundTrip sends one request.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		x = &Exchange{caller: req.Context()}
	}
	ctx, free := req.Context(), context.CancelFunc(func() {})
	if g.limit > 0 {
		ctx, free = context.WithTimeout(ctx, g.limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	b := &body{guard: g, exchange: x, ctx: ctx, end: func() { cancel(nil); free() }}
	b.timer = time.AfterFunc(g.idle, func() { cancel(errSilent) })
	resp, err := g.next.RoundTrip(req.WithContext(ctx))
	b.timer.Stop()
	if err != nil {
		err = b.fail(err, llm.Network, fmt.Sprintf("cannot reach %s: %v", req.URL.Host, err))
		b.end()
		return nil, err
	}
	b.source, b.left = resp.Body, MaxBody
	resp.Body = b
	x.Status, x.Header = resp.StatusCode, resp.Header
	if err := b.open(resp); err != nil {
		_ = b.Close() // err is more precise
		return nil, err
	}
	return resp, nil
}

// open checks the header of an answer, and reads the body of a failure.
func (b *body) open(resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 400:
		b.left = MaxErrorBody + 1
		text, err := io.ReadAll(io.LimitReader(b, MaxErrorBody))
		if err != nil && b.exchange.caller.Err() != nil {
			return err
		}
		b.exchange.Err = nil // the status is more precise than the error of a broken body
		b.exchange.Body = text
		_ = b.Close() // fully read
		resp.Body = io.NopCloser(bytes.NewReader(text))
	case resp.StatusCode >= 300:
		return b.refuse(llm.BadRequest, fmt.Sprintf("the server points to another address, %q, and redirects are not followed; set the base URL to where the service is", resp.Header.Get("Location")))
	case media == "text/html":
		return b.refuse(llm.Malformed, "the answer is a web page; check the base URL")
	}
	return nil
}

// body is an answer that is being read.
type body struct {
	*guard
	exchange *Exchange
	ctx      context.Context // of the request, ended by the timer too
	end      func()          // frees ctx
	timer    *time.Timer
	source   io.ReadCloser
	left     int // bytes that may still come
	line     int // bytes of the line so far
}

// Read reads from the body. The timer runs only while it waits, so a slow caller does not count as a silent server.
func (b *body) Read(p []byte) (int, error) {
	if b.exchange.Err != nil {
		return 0, b.exchange.Err
	}
	b.timer.Reset(b.idle)
	n, err := b.source.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		return n, b.fail(err, llm.Cut, fmt.Sprintf("the answer broke off: %v", err))
	}
	if b.left -= n; b.left < 0 {
		return 0, b.refuse(llm.Malformed, fmt.Sprintf("the answer exceeds %d bytes", MaxBody))
	}
	if b.longLine(p[:n]) {
		return 0, b.refuse(llm.Malformed, fmt.Sprintf("a line of the answer exceeds %d bytes", MaxLine))
	}
	return n, err
}

// longLine counts the bytes of the line and reports whether it exceeds MaxLine.
func (b *body) longLine(p []byte) bool {
	first := bytes.IndexByte(p, '\n')
	if first < 0 {
		b.line += len(p)
		return b.line > MaxLine
	}
	long := b.line+first > MaxLine
	b.line = len(p) - 1 - bytes.LastIndexByte(p, '\n')
	return long || b.line > MaxLine
}

// Close ends the exchange.
func (b *body) Close() error {
	b.timer.Stop()
	b.end()
	_ = b.source.Close() // no data is lost
	return nil
}

// fail records why the exchange failed: with kind, unless the caller or the timer ended it.
func (b *body) fail(err error, kind llm.ErrorKind, message string) error {
	switch {
	case b.exchange.caller.Err() != nil:
		b.exchange.Err = b.exchange.caller.Err()
	case errors.Is(context.Cause(b.ctx), errSilent):
		return b.refuse(llm.TimedOut, fmt.Sprintf("no data for %s", b.idle))
	case b.ctx.Err() != nil:
		return b.refuse(llm.TimedOut, "the request took longer than its HTTP client allows")
	default:
		b.exchange.Err = &llm.Error{Kind: kind, Provider: b.provider, Message: message, Err: err}
	}
	return b.exchange.Err
}

// refuse records that this side ended the exchange.
func (b *body) refuse(kind llm.ErrorKind, message string) error {
	b.exchange.Err = &llm.Error{Kind: kind, Provider: b.provider, Message: message}
	return b.exchange.Err
}
