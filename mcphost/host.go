package mcphost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
)

// What an option is when it is 0.
const (
	DefaultStart     = 30 * time.Second
	defaultCall      = 60 * time.Second
	defaultMaxResult = 1 << 20
)

// Server is a server that a user configured: a process that Run starts, or a URL.
type Server struct {
	// Label stands in the names of its tools: 1 to 64 of a-z A-Z 0-9 - _, without __ and with no _ at its end.
	Label string

	// Run starts the process of the server with p, and returns when it is gone, with the reason if it was not asked to end. It ends the
	// process when ctx is over. When it returns, nobody uses p any more.
	Run func(ctx context.Context, p *Pipes) error

	URL    string       // of a server that is reached by HTTP: https, or http on this machine
	Client *http.Client // for URL; adds what identifies the user. Its CheckRedirect is not used: a redirect to another host is refused. nil means one without an identity

	Tools   []string      // names of the tools that are used, as the server writes them; nil means all
	Timeout time.Duration // most time of a call, without what a person takes to answer a question; 0 means 60 s
	Start   time.Duration // most time until the server has answered; 0 means 30 s
	Entry   string        // what the user wrote, or a digest of it: what is remembered of the server belongs to it

	Redact func(string) string // takes secrets out of what the server says; may be nil
}

// Pipes are the three streams of a process, from its side.
type Pipes struct {
	In      io.ReadCloser
	Out     io.WriteCloser
	Err     io.Writer
	Started func() // must be called when the process runs
}

// HostOptions configures a Host.
type HostOptions struct {
	Servers []Server

	// Elicit puts a question of a server to the user. It is called for one question of a server at a time, and only while a call to that
	// server is under way. nil declines all, and tells servers that there is nobody to ask.
	Elicit func(context.Context, *Question) (*Answer, error)

	Trace     trace.Tracer  // may be nil
	start     time.Duration // most time until a server has answered; 0 means 30 s
	MaxResult int64         // bytes of a result; 0 means 1 MiB

	// Record is an absolute folder that keeps what servers have: their tools are known before they are started, and one with another
	// description or schema is refused until Host.Accept. "" keeps nothing.
	Record string
}

// Host uses the servers that a user configured. NewHost makes one, and who made it closes it. A server is started when it is needed,
// and stays until Close. A Host is safe for concurrent use.
type Host struct {
	o       HostOptions
	servers []*server
	now     func() time.Time
	ping    time.Duration // how long a sign of life may take
	begin   time.Duration // how long a stream over HTTP may take to begin
}

// pingWait is Host.ping.
const pingWait = 5 * time.Second

// NewHost returns a Host. It copies o. It returns an error for options that are invalid. It starts nothing.
func NewHost(o *HostOptions) (*Host, error) {
	h := &Host{o: *o, now: time.Now, ping: pingWait, begin: headersWait}
	if h.o.Record != "" && !filepath.IsAbs(h.o.Record) {
		return nil, fmt.Errorf("mcphost.HostOptions: Record must be an absolute path, not %q", h.o.Record)
	}
	h.o.start = cmp.Or(max(h.o.start, 0), DefaultStart)
	h.o.MaxResult = cmp.Or(max(h.o.MaxResult, 0), defaultMaxResult)
	for i := range o.Servers {
		s, err := newServer(h, o.Servers[i])
		if err != nil {
			return nil, err
		}
		if h.find(s.Label) != nil {
			return nil, fmt.Errorf("two MCP servers have the label %q", s.Label)
		}
		h.servers = append(h.servers, s)
	}
	return h, nil
}

var label = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// CheckLabel returns an error for what cannot be the label of a server.
func CheckLabel(name string) error {
	switch {
	case !label().MatchString(name):
		return fmt.Errorf("MCP server %.100q: a label has letters, digits, - and _, at most 64", name)
	case strings.Contains(name, "__"), strings.HasSuffix(name, "_"):
		return fmt.Errorf("MCP server %q: a label has no __ and no _ at its end, because two underscores end it in the names of tools", name)
	}
	return nil
}

// Close ends all servers and waits for that. Calls that are under way fail, and so do later ones.
func (h *Host) Close() error {
	var wg sync.WaitGroup
	for _, s := range h.servers {
		wg.Go(s.keep.Close)
	}
	wg.Wait()
	return nil
}

// Labels returns the labels of the servers, in the order of HostOptions.Servers.
func (h *Host) Labels() []string {
	var out []string
	for _, s := range h.servers {
		out = append(out, s.Label)
	}
	return out
}

func (h *Host) find(label string) *server {
	for _, s := range h.servers {
		if s.Label == label {
			return s
		}
	}
	return nil
}

// Known returns the tools of servers as they were last seen. It starts nothing; the Call of a tool starts its server.
//
// A tool's Name is mcp__LABEL__NAME with other characters than a-z A-Z 0-9 - _ replaced, and at most 64 long: rules
// and hooks know it by that. Its Source is "MCP server LABEL".
func (h *Host) Known() []tool.Tool {
	var out []tool.Tool
	for _, s := range h.servers {
		out = append(out, s.offered()...)
	}
	return out
}

// Tools returns the tools of all servers. It starts those whose tools are not known, side by side. The error is that of ctx, or joins a
// *ServerError for each server that failed: the tools of the others are returned with it.
func (h *Host) Tools(ctx context.Context) ([]tool.Tool, error) {
	errs := make([]error, len(h.servers))
	var wg sync.WaitGroup
	for i, s := range h.servers {
		wg.Go(func() { errs[i] = s.list(ctx) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return h.Known(), errors.Join(errs...)
}

// Start connects to a server, and asks it for a sign of life. The error is that of ctx or a *ServerError.
func (h *Host) Start(ctx context.Context, label string) error {
	return h.use(ctx, label, func(ctx context.Context, r *running) error { return r.c.Alive(ctx) })
}

// use lets f use the server with a label.
func (h *Host) use(ctx context.Context, label string, f func(context.Context, *running) error) error {
	s := h.find(label)
	if s == nil {
		return &ServerError{Label: label, Kind: KindUnknown, Message: "no server has this label"}
	}
	return s.use(ctx, f)
}
