package mcpserve

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/trace"
)

// Options configures a Server. Catalog and Kit are required.
type Options struct {
	// Catalog returns the present snapshot of the skills. It is called for the first time by a request for a list or a call, never before the
	// answer to the first message. Its error is the answer to that request.
	Catalog func(context.Context) (*skill.Catalog, error)
	// Kit returns the tools for one call, which works in the session. The kit is ended after the call.
	Kit func(context.Context, *skill.Catalog, *session.Session) (*skilltool.Kit, error)
	// Session returns a new session for one call; nil means session.New(nil).
	Session func() *session.Session

	Version      string // of the server; "" means "0"
	Instructions string // for the client's model; "" means none

	Key    []byte // seals handles, at least 32 bytes; nil means a key of this Server
	Tenant string // for whom it serves; it takes no handle of another tenant, also with the same key
	Limits Limits
	Trace  trace.Tracer     // may be nil
	now    func() time.Time // nil means time.Now
}

// Limits are limits of clients. 0 means the default.
type Limits struct {
	Description int // characters of the description of a tool; 4,096 by default
	Result      int // characters of a value in a result; 30,000 by default
	Calls       int // calls that run at the same time; 64 by default. Others wait.
}

// Server serves the skills of one catalogue.
type Server struct {
	o     Options
	sdk   *mcp.Server
	slots chan struct{} // one for each call that may run
	whole wholes
	going requests

	patience time.Duration // writeTime, but for tests

	mu       sync.Mutex
	answered map[string]time.Time // the states of questions to which an answer came, until they are too old
	shown    *skill.Catalog       // whose tools and prompts are described; nil before the first request
	prompts  map[string]string    // the hint for the arguments of each prompt, by its name
	changed  atomic.Bool          // the skills have changed since: then clients are told
}

// keySize is the least size of Options.Key, in bytes.
const keySize = 32

// New returns a Server. It reads nothing. The error is about a missing or invalid option.
func New(o *Options) (*Server, error) {
	if o == nil || o.Catalog == nil || o.Kit == nil {
		return nil, errors.New("mcpserve.Options: Catalog and Kit are needed")
	}
	s := &Server{o: *o, patience: writeTime, answered: map[string]time.Time{}}
	switch {
	case s.o.Key == nil:
		s.o.Key = make([]byte, keySize)
		_, _ = rand.Read(s.o.Key) // it never fails
	case len(s.o.Key) < keySize:
		return nil, errors.New("mcpserve.Options: Key has less than 32 bytes")
	}
	if s.o.Session == nil {
		s.o.Session = func() *session.Session { return session.New(nil) }
	}
	if s.o.now == nil {
		s.o.now = time.Now
	}
	for _, l := range []struct {
		limit   *int
		without int
	}{{&s.o.Limits.Description, 4096}, {&s.o.Limits.Result, 30_000}, {&s.o.Limits.Calls, 64}} {
		*l.limit = cmp.Or(max(*l.limit, 0), l.without)
	}
	s.slots = make(chan struct{}, s.o.Limits.Calls)
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "agent-base", Version: cmp.Or(s.o.Version, "0")}, &mcp.ServerOptions{
		Instructions:      s.o.Instructions,
		CompletionHandler: s.complete,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true}, Resources: &mcp.ResourceCapabilities{ListChanged: true},
			Extensions: map[string]any{skilluri.Extension: map[string]any{"directoryRead": true}}},
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs, c.CacheScope = freshFor, "private" },
	})
	s.sdk.AddReceivingMiddleware(s.beforeAnswer)
	s.sdk.AddSendingMiddleware(s.quiet)
	return s, s.extend()
}

// freshFor is how long a client may keep a list, in milliseconds.
const freshFor = 30_000

// ServeStdio serves one client, until it closes in, or ctx is done. Calls that run then are cancelled.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := s.sdk.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessage})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) { // it has gone
		return nil
	}
	return err
}

// maxMessage is the most bytes of one message of a client.
const maxMessage = 8 << 20

// needSkills are the requests that need the catalogue. All others are answered without.
var needSkills = map[string]bool{"tools/list": true, "tools/call": true, "prompts/list": true, "prompts/get": true}

// beforeAnswer describes the tools and prompts before the first request about them, and lists the resources, which the SDK does not know.
func (s *Server) beforeAnswer(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "resources/list" {
			cursor := ""
			if p, ok := req.GetParams().(*mcp.ListResourcesParams); ok && p != nil {
				cursor = p.Cursor
			}
			return s.listResources(ctx, cursor)
		}
		if needSkills[method] && !(method == "tools/call" && s.described()) { // a call finds the skills itself
			if err := s.refresh(ctx); err != nil {
				return nil, err
			}
		}
		return next(ctx, method, req)
	}
}

// quiet keeps clients from being told of the first lists as of a change.
func (s *Server) quiet(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !s.changed.Load() && (method == "notifications/tools/list_changed" || method == "notifications/prompts/list_changed") {
			return nil, nil
		}
		return next(ctx, method, req)
	}
}

// Changed tells the clients that the skills have changed on disk. It describes the tools and prompts again, unless nobody has asked for
// them yet.
func (s *Server) Changed(ctx context.Context) error {
	s.offerFiles()
	if !s.described() {
		return nil
	}
	s.changed.Store(true)
	return s.refresh(ctx)
}

// Forgets reports whether a client would miss nothing if another Server with the same key took its place: no result and no answer to a question
// is kept. Requests that are under way are not looked at.
func (s *Server) Forgets() bool {
	now := s.o.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetAnswers(now)
	return len(s.answered) == 0 && s.whole.none(now)
}

// described reports whether somebody has asked for the tools or prompts.
func (s *Server) described() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown != nil
}

// refresh describes the tools and prompts of the present skills, unless it has done so.
func (s *Server) refresh(ctx context.Context) error {
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown == c {
		return nil
	}
	tools, err := s.describe(ctx, c)
	if err != nil {
		return err
	}
	for _, t := range tools {
		s.sdk.AddTool(t, s.call)
	}
	s.offerPrompts(ctx, c)
	s.shown = c
	return nil
}
