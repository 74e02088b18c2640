package mcphost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
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
	maxRead    = 24 << 20  // likewise while a resource is read: a file of 16 MiB in base64
	maxNoise   = 16 << 20  // bytes without meaning between two answers
	maxPrinted = 64 << 20  // bytes on standard error between two answers
	maxQueue   = 8 << 20   // bytes of messages that the process has not read
	maxLine    = 256 << 20 // bytes of a line that is thrown away
	kept       = 512       // bytes of both ends of a message that is too long
	perRequest = 1 << 10   // what a message counts as noise in addition to its bytes
	perLine    = 1 << 8    // likewise a line that is none

	endGrace = 2 * time.Second // for a process to end when it has closed its output
)

// wire carries the messages between a client and a process. The process's standard output is written to it; in is what the process
// reads. Nothing that the process does makes it grow or wait without bound.
type wire struct {
	in  *io.PipeReader
	out *io.PipeWriter

	messages   chan jsonrpc.Message
	closed     chan struct{}         // closed by Close
	ended      chan struct{}         // closed by end: no more comes
	onProgress func(json.RawMessage) // gets the parameters of messages of progress; must not wait; may be nil
	passNotes  bool                  // notifications that noted knows are passed on
	onNoise    func(string)          // gets the reason when the process must be ended: there was too much, or no more can come; must not wait
	probe      time.Duration         // how long a server/discover may go without an answer; 0: as long as it takes

	mostNoise   int64 // maxNoise, but for tests
	mostPrinted int64 // maxPrinted, likewise
	mostQueue   int   // maxQueue, likewise

	sending sync.Once

	mu      sync.Mutex
	queue   [][]byte
	queued  int // bytes
	wake    chan struct{}
	pending map[string]bool // ids of requests without an answer
	probed  string          // the id of a server/discover that was given up; "" without one
	late    bool            // the answer to that came
	isEnded bool
	isClose bool
	stray   stray
	recent  []byte // the end of standard error

	reads atomic.Int32 // requests for a resource that are under way

	deaf atomic.Bool // there was too much noise
	line []byte      // of the message that comes; only Write uses these
	long longLine
}

// stray is what a process wrote that is no message.
type stray struct {
	Strays
	noise    [kinds]int64 // bytes since the last answer
	fired    bool
	answered int64 // Strays.Printed before the last answer
}

// The kinds of what has no meaning. Each has a budget of its own: a server that tells its progress may also print.
const (
	ofLine     = iota // no message
	ofAnswer          // nobody waits for it
	ofRequest         // of the server
	ofProgress        // a notification of progress
	ofNote            // another notification
	kinds
)

func newWire(onNoise func(string)) *wire {
	w := &wire{messages: make(chan jsonrpc.Message), closed: make(chan struct{}), ended: make(chan struct{}), onNoise: onNoise, mostNoise: maxNoise, mostPrinted: maxPrinted, mostQueue: maxQueue,
		wake: make(chan struct{}, 1), pending: map[string]bool{}}
	w.in, w.out = io.Pipe()
	return w
}

// link is one conversation over a wire: an mcp.Transport and its connection. Its end leaves the wire open.
type link struct {
	*wire
	over chan struct{}
	once sync.Once
}

// Connect returns l, for the client.
func (l *link) Connect(context.Context) (mcp.Connection, error) {
	l.sending.Do(func() { go l.send() })
	return l, nil
}

// SessionID returns "": a process has no sessions.
func (l *link) SessionID() string { return "" }

// Close ends the conversation.
func (l *link) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

// Read returns the next message. After the last one the error is io.EOF.
func (l *link) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.messages:
		return m, nil
	default:
	}
	select {
	case m := <-l.messages:
		return m, nil
	case <-l.ended:
	case <-l.closed:
	case <-l.over:
	case <-ctx.Done():
	}
	return nil, io.EOF
}

// Write queues a message for the process. It never waits.
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	b, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.isClose || w.isEnded:
		return io.ErrClosedPipe
	case w.queued+len(b) > w.mostQueue:
		return fmt.Errorf("it has not read %d bytes that were sent to it", w.queued)
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.ID.IsValid() {
		id := fmt.Sprint(r.ID.Raw())
		w.pending[id] = true
		if r.Method == "server/discover" && w.probe > 0 {
			w.giveUp(id)
		}
	}
	w.queue = append(w.queue, append(b, '\n'))
	w.queued += len(b)
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return nil
}

// giveUp answers a server/discover that has no answer after a while: an older server may be silent about what it does not know.
func (w *wire) giveUp(id string) {
	time.AfterFunc(w.probe, func() {
		w.mu.Lock()
		silent := w.pending[id]
		if silent {
			w.probed = id
		}
		w.mu.Unlock()
		if silent {
			w.message(failure([]byte(id), "there was no answer"))
		}
	})
}

// failure returns the answer to a request that the process did not answer well.
func failure(id []byte, message string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, jsonrpc.CodeInternalError, message)
}

// send gives the process what is queued, until w is closed or the process has ended.
func (w *wire) send() {
	for {
		w.mu.Lock()
		all := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, b := range all {
			if _, err := w.out.Write(b); err != nil {
				return
			}
			w.mu.Lock()
			w.queued -= len(b) - 1
			w.mu.Unlock()
		}
		if len(all) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-w.closed:
			return
		case <-w.ended:
			return
		}
	}
}

// close ends all: the process reads the end of its input.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isClose {
		w.isClose = true
		close(w.closed)
		_ = w.out.Close()
	}
}

// end says that the process has ended.
func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isEnded {
		w.isEnded = true
		close(w.ended)
		_ = w.in.Close()
	}
}

// output is the standard output of the process, for its runner. It is the other side of a link's Read.
type output struct{ w *wire }

// Write takes what the process wrote. It waits for the client at most, never for the process.
func (o output) Write(p []byte) (int, error) {
	w, n := o.w, len(p)
	for !w.deaf.Load() { // what comes after too much is thrown away
		at := bytes.IndexByte(p, '\n')
		if at < 0 {
			w.take(p)
			return n, nil
		}
		w.take(p[:at])
		w.endLine()
		p = p[at+1:]
	}
	return n, nil
}

// most returns how many bytes a message may have.
func (w *wire) most() int {
	if w.reads.Load() > 0 {
		return maxRead
	}
	return maxMessage
}

// take adds to the line that comes.
func (w *wire) take(p []byte) {
	if w.long.size == 0 && len(w.line)+len(p) <= w.most() {
		w.line = append(w.line, p...)
		return
	}
	if w.long.size == 0 {
		w.long.add(w.line)
		w.line = nil
	}
	if w.long.add(p); w.long.size > maxLine && !w.deaf.Swap(true) {
		w.onNoise(fmt.Sprintf("it wrote a line of more than %d MiB to standard output", maxLine>>20))
	}
}

// Close says that the process will write no more. One that does not end then can answer nothing.
func (o output) Close() error {
	time.AfterFunc(endGrace, func() {
		o.w.mu.Lock()
		over := o.w.isEnded || o.w.isClose
		o.w.mu.Unlock()
		if !over {
			o.w.onNoise("it closed its standard output and did not end")
		}
	})
	return nil
}

func (w *wire) endLine() {
	if w.long.size > 0 {
		w.tooLong(&w.long)
		w.long = longLine{}
		return
	}
	line := bytes.TrimSpace(w.line)
	if len(line) > 0 {
		w.message(line)
	}
	if w.line = w.line[:0]; cap(w.line) > 1<<20 {
		w.line = nil
	}
}

// longLine is a line of too many bytes: its ends and its size.
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
func (w *wire) tooLong(l *longLine) {
	for _, found := range [][][]byte{idFirst().FindSubmatch(l.head), idLast().FindSubmatch(l.tail)} {
		if found == nil {
			continue
		}
		if w.message(failure(found[1], fmt.Sprintf("its answer has %d bytes, and at most %d are taken", l.size, w.most()))) {
			return
		}
	}
	w.noise(ofLine, int(w.mostNoise)+1, nil)
}

// message passes a text on, if it is an answer that is waited for, or a request. It counts the others.
func (w *wire) message(text []byte) bool {
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil || text[0] != '{' {
		w.noise(ofLine, len(text)+perLine, text)
		return false
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		if id := fmt.Sprint(m.ID.Raw()); !w.awaited(id) {
			w.tooLate(id, m)
			w.noise(ofAnswer, len(text)+perRequest, nil)
			return false
		}
	case *jsonrpc.Request:
		kind := kindOf(m)
		w.noise(kind, len(text)+perRequest, nil)
		if kind == ofProgress && w.onProgress != nil {
			w.onProgress(m.Params)
		}
		if kind != ofRequest && !(w.passNotes && noted(m.Method)) {
			return false // nothing depends on it
		}
	}
	select {
	case w.messages <- m:
	case <-w.closed:
	case <-w.ended:
	}
	return true
}

// noted reports whether the client does something with a notification: a list has changed, or a question needs no answer any more.
func noted(method string) bool {
	return strings.HasSuffix(method, "/list_changed") || method == "notifications/cancelled"
}

func kindOf(r *jsonrpc.Request) int {
	switch {
	case r.ID.IsValid():
		return ofRequest
	case r.Method == "notifications/progress":
		return ofProgress
	}
	return ofNote
}

// tooLate notes that a server/discover which was given up has an answer after all.
func (w *wire) tooLate(id string, m *jsonrpc.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.probed == id {
		w.probed, w.late = "", m.Error == nil
	}
}

// awaited reports whether a request has no answer yet, and notes that it has one now.
func (w *wire) awaited(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.pending[id]
	if delete(w.pending, id); was {
		w.stray.noise, w.stray.answered = [kinds]int64{}, w.stray.Printed
	}
	return was
}

// noise counts what has no meaning, by its kind. text is a line that is no message, or nil.
func (w *wire) noise(kind, n int, text []byte) {
	if w.tooMuch(kind, n, text) {
		w.onNoise(fmt.Sprintf("it wrote more than %d MiB to standard output that answer nothing", w.mostNoise>>20))
	}
}

// tooMuch counts for noise, and reports once that there was too much.
func (w *wire) tooMuch(kind, n int, text []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.stray
	if text != nil {
		if s.Lines++; s.Lines == 1 {
			s.First = string(bytes.ToValidUTF8(text[:min(len(text), 200)], nil))
		}
		s.Bytes += int64(len(text))
	}
	s.noise[kind] += int64(n)
	if s.noise[kind] <= w.mostNoise || s.fired {
		return false
	}
	s.fired = true
	w.deaf.Store(true)
	return true
}

// errput is the standard error of the process, for its runner. A language host puts there what toolsets print to standard output.
type errput struct{ w *wire }

// Write counts, and keeps the end.
func (o errput) Write(p []byte) (int, error) {
	if o.w.print(p) {
		o.w.onNoise(fmt.Sprintf("it printed more than %d MiB and answered nothing meanwhile", o.w.mostPrinted>>20))
	}
	return len(p), nil
}

// print counts bytes on standard error, and reports once that there were too many.
func (w *wire) print(p []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.stray
	s.Printed += int64(len(p))
	both := slices.Concat(w.recent, p[max(0, len(p)-kept):])
	w.recent = both[max(0, len(both)-kept):]
	if s.fired || s.Printed-s.answered <= w.mostPrinted {
		return false
	}
	s.fired = true
	return true
}
