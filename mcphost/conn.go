package mcphost

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/trace"
)

// defaultProbe is how long a server may be silent when it is asked for the revisions it knows, before it is taken for an older one. A slow
// server is found out all the same.
const defaultProbe = 2 * time.Second

// Options configures a Conn. Kill is required.
type Options struct {
	// Kill must end the process, for a reason that follows "it was ended: ". It is called by several goroutines, perhaps more than once,
	// and must not wait.
	Kill func(why string)

	// Elicit puts a question of the server to the user, one at a time, and only while a call is under way. nil declines all, and tells the
	// server that there is nobody to ask. Question.Label is left to it.
	Elicit func(context.Context, *Question) (*Answer, error)

	// Changed is told that a list has changed: "tools", "prompts" or "resources". It must not wait. nil means that the server is not asked
	// to tell.
	Changed func(list string)

	remote *remote // the server is reached by HTTP; nil for a process
}

// Conn is the conversation with one process. New makes it, Connect begins it, and Close ends it.
type Conn struct {
	o        Options
	w        *wire
	client   *mcp.Client
	session  *mcp.ClientSession // set by Connect
	asking   sync.Mutex         // held while a question is put to the user
	discover mcp.Request        // the question for the revisions

	checks sync.WaitGroup // for signs of life

	mu       sync.Mutex
	tokens   int
	calls    int    // under way
	asked    int    // questions since there was no call
	giveUp   func() // ends the question that the user is asked; nil without one
	watching map[string]func(*Progress)
	checked  chan struct{} // closed when the last check is over; nil before the first
	over     bool
}

// Progress is what a server says of a call that is under way.
type Progress struct {
	Done, Total float64 // Total is 0 if it is not known
	Message     string
}

// Strays is what a process wrote that is no message.
type Strays struct {
	Lines, Bytes int64  // on standard output
	First        string // the beginning of the first of these lines, up to 200 bytes
	Printed      int64  // bytes on standard error
}

// Error is what a server answered in place of a result.
type Error struct {
	Code    int64
	Message string
}

// Error returns what the server said.
func (e *Error) Error() string { return e.Message }

// New returns a Conn.
func New(o *Options) *Conn {
	c := &Conn{o: *o, w: newWire(o.Kill), watching: map[string]func(*Progress){}}
	c.w.probe = defaultProbe
	c.w.onProgress = c.told
	c.w.passNotes = o.Elicit != nil || o.Changed != nil
	if o.remote != nil {
		o.remote.wire = c.w
	}
	c.client = c.newClient()
	return c
}

// In returns what the process reads.
func (c *Conn) In() io.ReadCloser { return c.w.in }

// Out takes what the process writes to standard output. Its Close says that no more comes.
func (c *Conn) Out() io.WriteCloser { return output{c.w} }

// Err takes what the process writes to standard error.
func (c *Conn) Err() io.Writer { return errput{c.w} }

// End says that the process is gone. Calls and checks that wait for it fail; it waits for the checks.
func (c *Conn) End() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.w.end()
	c.checks.Wait()
}

// Ended is closed by End.
func (c *Conn) Ended() <-chan struct{} { return c.w.ended }

// Close ends the conversation: the process reads the end of its input.
func (c *Conn) Close() { c.w.close() }

// Strays returns what the process has written so far that is no message.
func (c *Conn) Strays() Strays {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.w.stray.Strays
}

// Recent returns the end of standard error, up to 512 bytes, and whether that is all of it.
func (c *Conn) Recent() (end []byte, all bool) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.w.recent, c.w.stray.Printed <= kept
}

// Connect begins the conversation. It is called once.
func (c *Conn) Connect(ctx context.Context) error {
	err := c.greet(ctx)
	if err != nil && c.slow() {
		c.patient() // it knows server/discover, and needs time
		err = c.greet(ctx)
	}
	c.patient() // when it is asked for a sign of life
	if err == nil && c.o.remote != nil {
		c.o.remote.attend(c)
	}
	return own(err)
}

func (c *Conn) greet(ctx context.Context) (err error) {
	var t mcp.Transport = &link{wire: c.w, over: make(chan struct{})}
	if c.o.remote != nil {
		t = c.o.remote.transport()
	}
	c.session, err = c.client.Connect(ctx, t, nil)
	return err
}

// patient waits for the answer to the next question for the revisions as long as it takes.
func (c *Conn) patient() {
	if c.w.probe = 0; c.o.remote != nil {
		c.o.remote.probe = 0
	}
}

// slow reports whether the server answered the question for its revisions after that was given up, or may have.
func (c *Conn) slow() bool {
	if c.o.remote != nil {
		return c.o.remote.silent.Load()
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.w.late
}

// Alive asks for a sign of life. Any answer is one. The error is that of ctx, or of a conversation that is over.
func (c *Conn) Alive(ctx context.Context) error {
	if err := c.session.Ping(ctx, nil); answered(err) == nil && !errors.Is(err, errAlive) {
		return err
	}
	return nil
}

// errAlive says that there was an answer.
var errAlive = errors.New("it is there")

// send asks a server without sessions for its revisions in place of a ping, which it does not know.
func (c *Conn) send(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch {
		case method == "server/discover":
			c.discover = r
		case method == "ping" && c.about().Protocol >= withoutSessions:
			_, err := next(ctx, "server/discover", c.discover)
			return nil, cmp.Or(err, errAlive)
		}
		return next(ctx, method, r)
	}
}

// withoutSessions is the first revision of the protocol that has none.
const withoutSessions = "2026-07-28"

// Check kills a process that gives no sign of life within some time, as after a call that it did not answer. It does not wait for that;
// Settled does.
func (c *Conn) Check(ctx context.Context, most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	over := make(chan struct{})
	c.checked = over
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	c.checks.Go(func() {
		defer close(over)
		defer cancel()
		if err := c.Alive(ctx); err != nil && ctx.Err() != nil {
			c.w.onNoise("it did not end a call that was cancelled, and answered nothing for " + most.String())
		}
	})
}

// Settled waits for the last check: a call is not given to a process that is about to be killed. The error is that of ctx.
func (c *Conn) Settled(ctx context.Context) error {
	c.mu.Lock()
	over := c.checked
	c.mu.Unlock()
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Tool is a tool of a server, as the server describes it.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage // the schema of its arguments
	ReadOnly    bool            // the server says that it changes nothing
}

// Page is a part of a list of tools.
type Page struct {
	Tools []Tool
	Meta  map[string]any // what else the server says
	Next  string         // the cursor of the next page; "" if there is none
}

// Tools returns the page of the list of tools at a cursor; "" is the first one. The error is an *Error if it is the server's.
func (c *Conn) Tools(ctx context.Context, cursor string) (*Page, error) {
	res, err := c.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		return nil, own(err)
	}
	p := &Page{Meta: res.Meta, Next: res.NextCursor}
	for _, t := range res.Tools {
		if t == nil {
			continue
		}
		input, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("the schema of tool %.100q: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, Tool{t.Name, t.Description, input, t.Annotations != nil && t.Annotations.ReadOnlyHint})
	}
	return p, nil
}

// Call calls a tool with a JSON object of arguments. progress gets what the server says meanwhile, by other goroutines, and must not
// wait; it may be nil. The error is an *Error if it is the server's.
func (c *Conn) Call(ctx context.Context, name string, args json.RawMessage, progress func(*Progress)) (*Result, error) {
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	if parent := trace.ParentOf(ctx); parent != "" {
		params.Meta = mcp.Meta{"traceparent": parent}
	}
	if progress != nil {
		token := c.watch(progress)
		defer c.unwatch(token)
		params.SetProgressToken(token)
	}
	var res *mcp.CallToolResult
	err := c.rounds(ctx, func(answers mcp.InputResponseMap, state string) (_ more, err error) {
		params.InputResponses, params.RequestState = answers, state
		if res, err = c.session.CallTool(ctx, params); err != nil {
			return more{}, err
		}
		return more{res.NeedsInput(), res.InputRequests, res.RequestState}, nil
	})
	if err != nil {
		return nil, err
	}
	return resultOf(res)
}

func (c *Conn) watch(progress func(*Progress)) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	token := fmt.Sprintf("call-%d", c.tokens)
	c.watching[token] = progress
	return token
}

func (c *Conn) unwatch(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watching, token)
}

// told passes on a message of progress.
func (c *Conn) told(params json.RawMessage) {
	var said struct {
		Token           any `json:"progressToken"`
		Progress, Total float64
		Message         string
	}
	if json.Unmarshal(params, &said) == nil {
		c.progress(said.Token, &Progress{said.Progress, said.Total, said.Message})
	}
}

// progress passes on what a server says of a call. What nobody waits for is dropped.
func (c *Conn) progress(of any, p *Progress) {
	token, _ := of.(string)
	c.mu.Lock()
	tell := c.watching[token]
	c.mu.Unlock()
	if tell != nil {
		tell(&Progress{max(p.Done, 0), max(p.Total, 0), p.Message})
	}
}

// own returns an error of the server as an *Error, and another one unchanged.
func own(err error) error {
	if rpc := answered(err); rpc != nil {
		return &Error{rpc.Code, rpc.Message}
	}
	return err
}

// answered returns the error that a server answered with, nil for an error without one. The SDK has one of its own for what was not sent.
func answered(err error) *jsonrpc.Error {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case nil:
		return nil
	case *jsonrpc.Error:
		if e.Message == rejected {
			return nil
		}
		return e
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if rpc := answered(inner); rpc != nil {
				return rpc
			}
		}
		return nil
	}
	return answered(errors.Unwrap(err))
}

// rejected is the message of the SDK's own error.
const rejected = "rejected by transport"
