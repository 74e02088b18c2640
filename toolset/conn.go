package toolset

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// Limits of a conversation with a process.
const (
	maxMessage = 8 << 20   // bytes of one message
	maxNoise   = 16 << 20  // bytes without meaning between two answers
	maxPrinted = 64 << 20  // bytes on standard error between two answers
	maxQueue   = 8 << 20   // bytes of messages that the process has not read
	maxLine    = 256 << 20 // bytes of a line that is thrown away
	kept       = 512       // bytes of both ends of a message that is too long
	perRequest = 1 << 10   // what a message counts as noise in addition to its bytes
	perLine    = 1 << 8    // likewise a line that is none
)

// conn carries the messages between a client and a process: an mcp.Transport and its connection. The process's standard output
// is written to it; In is what the process reads. Nothing that the process does makes it grow or wait without bound.
type conn struct {
	in  *io.PipeReader
	out *io.PipeWriter

	messages   chan jsonrpc.Message
	closed     chan struct{}         // closed by Close
	ended      chan struct{}         // closed by end: no more comes
	onProgress func(json.RawMessage) // gets the parameters of messages of progress; must not wait; may be nil
	onNoise    func(string)          // gets the reason when the process must be ended: there was too much, or no more can come; must not wait

	mostNoise   int64 // maxNoise, but for tests
	mostPrinted int64 // maxPrinted, likewise
	mostQueue   int   // maxQueue, likewise

	mu      sync.Mutex
	queue   [][]byte
	queued  int // bytes
	wake    chan struct{}
	pending map[string]bool // ids of requests without an answer
	isEnded bool
	isClose bool
	stray   stray
	recent  []byte // the end of standard error

	deaf atomic.Bool // there was too much noise
	line []byte      // of the message that comes; only Write uses these
	long longLine
}

// stray is what a process wrote that is no message.
type stray struct {
	lines, bytes int64
	first        string // the beginning of the first one
	noise        int64  // bytes since the last answer
	fired        bool
	printed      int64 // bytes on standard error
	answered     int64 // those before the last answer
}

func newConn(onNoise func(string)) *conn {
	c := &conn{messages: make(chan jsonrpc.Message), closed: make(chan struct{}), ended: make(chan struct{}), onNoise: onNoise, mostNoise: maxNoise, mostPrinted: maxPrinted, mostQueue: maxQueue,
		wake: make(chan struct{}, 1), pending: map[string]bool{}}
	c.in, c.out = io.Pipe()
	return c
}

// Connect returns c, for the client.
func (c *conn) Connect(context.Context) (mcp.Connection, error) {
	go c.send()
	return c, nil
}

// SessionID returns "": a process has one session.
func (c *conn) SessionID() string { return "" }

// Read returns the next message. After the last one the error is io.EOF.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.messages:
		return m, nil
	default:
	}
	select {
	case m := <-c.messages:
		return m, nil
	case <-c.ended:
	case <-c.closed:
	case <-ctx.Done():
	}
	return nil, io.EOF
}

// Write queues a message for the process. It never waits.
func (c *conn) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isClose || c.isEnded:
		return io.ErrClosedPipe
	case c.queued+len(b) > c.mostQueue:
		return fmt.Errorf("it has not read %d bytes that were sent to it", c.queued)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.ID.IsValid() {
		c.pending[fmt.Sprint(r.ID.Raw())] = true
	}
	c.queue = append(c.queue, append(b, '\n'))
	c.queued += len(b)
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// send gives the process what is queued, until c is closed or the process has ended.
func (c *conn) send() {
	for {
		c.mu.Lock()
		all := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, b := range all {
			if _, err := c.out.Write(b); err != nil {
				return
			}
			c.mu.Lock()
			c.queued -= len(b) - 1
			c.mu.Unlock()
		}
		if len(all) > 0 {
			continue
		}
		select {
		case <-c.wake:
		case <-c.closed:
			return
		case <-c.ended:
			return
		}
	}
}

// Close ends the conversation: the process reads the end of its input.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClose {
		c.isClose = true
		close(c.closed)
		_ = c.out.Close()
	}
	return nil
}

// end says that the process has ended.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isEnded {
		c.isEnded = true
		close(c.ended)
		_ = c.in.Close()
	}
}

// output is the standard output of the process, for its runner. It is the other side of a conn's Read.
type output struct{ c *conn }

// Write takes what the process wrote. It waits for the client at most, never for the process.
func (o output) Write(p []byte) (int, error) {
	c, n := o.c, len(p)
	for !c.deaf.Load() { // what comes after too much is thrown away
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			c.take(p)
			return n, nil
		}
		c.take(p[:at])
		c.endLine()
		p = p[at+1:]
	}
	return n, nil
}

// take adds to the line that comes.
func (c *conn) take(p []byte) {
	if c.long.size == 0 && len(c.line)+len(p) <= maxMessage {
		c.line = append(c.line, p...)
		return
	}
	if c.long.size == 0 {
		c.long.add(c.line)
		c.line = nil
	}
	if c.long.add(p); c.long.size > maxLine && !c.deaf.Swap(true) {
		c.onNoise(fmt.Sprintf("it wrote a line of more than %d MiB to standard output", maxLine>>20))
	}
}

// Close says that the process will write no more. One that does not end then can answer nothing.
func (o output) Close() error {
	time.AfterFunc(endGrace, func() {
		o.c.mu.Lock()
		over := o.c.isEnded || o.c.isClose
		o.c.mu.Unlock()
		if !over {
			o.c.onNoise("it closed its standard output and did not end")
		}
	})
	return nil
}

func (c *conn) endLine() {
	if c.long.size > 0 {
		c.tooLong(&c.long)
		c.long = longLine{}
		return
	}
	line := bytes.TrimSpace(c.line)
	if len(line) > 0 {
		c.message(line)
	}
	if c.line = c.line[:0]; cap(c.line) > 1<<20 {
		c.line = nil
	}
}

// longLine is a line of more than maxMessage bytes: its ends and its size.
type longLine struct {
	size       int64
	head, tail []byte
}

func (l *longLine) add(p []byte) {
	l.size += int64(len(p))
	if room := kept - len(l.head); room > 0 {
		l.head = append(l.head, p[:min(len(p), room)]...)
	}
	l.tail = append(l.tail, p[max(0, len(p)-kept):]...)
	l.tail = append([]byte(nil), l.tail[max(0, len(l.tail)-kept):]...)
}

// The id of an answer stands before or after its result.
var (
	idFirst = lazyregexp.New(`^[^\[]{0,64}?"id"\s*:\s*("[^"]{1,64}"|\d{1,18})\s*,`)
	idLast  = lazyregexp.New(`"id"\s*:\s*("[^"]{1,64}"|\d{1,18})\s*(,\s*"jsonrpc"\s*:\s*"2.0"\s*)?}\s*$`)
)

// tooLong answers the request whose answer is too long. Without one the line was noise, and too much of it.
func (c *conn) tooLong(l *longLine) {
	for _, found := range [][][]byte{idFirst().FindSubmatch(l.head), idLast().FindSubmatch(l.tail)} {
		if found == nil {
			continue
		}
		text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"its answer has %d bytes, and at most %d are taken"}}`, found[1], codeTooLong, l.size, maxMessage)
		if c.message([]byte(text)) {
			return
		}
	}
	c.noise(int(c.mostNoise)+1, nil)
}

// codeTooLong is the code of an error for an answer that was not taken.
const codeTooLong = -32099

// message passes a line on, if it is an answer that is waited for, or a request. It counts the others.
func (c *conn) message(line []byte) bool {
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if line[0] != '{' || json.Unmarshal(line, &head) != nil {
		c.noise(len(line)+perLine, line)
		return false
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.noise(len(line)+perLine, line)
		return false
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		if !c.awaited(fmt.Sprint(m.ID.Raw())) {
			c.noise(len(line)+perRequest, nil)
			return false
		}
	case *jsonrpc.Request:
		if c.noise(len(line)+perRequest, nil); !m.ID.IsValid() {
			if m.Method == "notifications/progress" && c.onProgress != nil {
				c.onProgress(m.Params)
			}
			return false // a notification: nothing depends on one
		}
	}
	select {
	case c.messages <- m:
	case <-c.closed:
	}
	return true
}

// awaited reports whether a request has no answer yet, and notes that it has one now.
func (c *conn) awaited(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.pending[id]
	if delete(c.pending, id); was {
		c.stray.noise, c.stray.answered = 0, c.stray.printed
	}
	return was
}

// noise counts what has no meaning. line is a line that is no message, or nil.
func (c *conn) noise(n int, line []byte) {
	if c.tooMuch(n, line) {
		c.onNoise(fmt.Sprintf("it wrote more than %d MiB to standard output that answer nothing", c.mostNoise>>20))
	}
}

// tooMuch counts for noise, and reports once that there was too much.
func (c *conn) tooMuch(n int, line []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := &c.stray; line != nil {
		if s.lines++; s.lines == 1 {
			s.first = string(bytes.ToValidUTF8(line[:min(len(line), 200)], nil))
		}
		s.bytes += int64(len(line))
	}
	c.stray.noise += int64(n)
	if c.stray.noise <= c.mostNoise || c.stray.fired {
		return false
	}
	c.stray.fired = true
	c.deaf.Store(true)
	return true
}

// errput is the standard error of the process, for its runner. A language host puts there what toolsets print to standard output.
type errput struct{ c *conn }

// Write counts, and keeps the end.
func (o errput) Write(p []byte) (int, error) {
	if o.c.print(p) {
		o.c.onNoise(fmt.Sprintf("it printed more than %d MiB and answered nothing meanwhile", o.c.mostPrinted>>20))
	}
	return len(p), nil
}

// print counts bytes on standard error, and reports once that there were too many.
func (c *conn) print(p []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.stray
	s.printed += int64(len(p))
	both := slices.Concat(c.recent, p[max(0, len(p)-kept):])
	c.recent = both[max(0, len(both)-kept):]
	if s.fired || s.printed-s.answered <= c.mostPrinted {
		return false
	}
	s.fired = true
	return true
}

// strays returns what was written that is no message.
func (c *conn) strays() stray {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stray
}

// latest returns the end of standard error. It is not changed later.
func (c *conn) latest() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent
}
