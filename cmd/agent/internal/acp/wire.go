package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
)

// Bounds of the connection.
const (
	mostLine  = 10<<20 - 1<<10 // bytes of a line: the library ends the connection at a longer one
	mostBad   = 10             // lines that are not the protocol; after them the connection ends
	busyAt    = 256 << 10      // bytes that wait for the editor: what can be left out is
	fullAt    = 4 << 20        // bytes that wait: nothing is read or done until the editor has read some
	lastWords = 2 * time.Second
)

// inlet passes on the lines of an editor that are messages of the protocol, and answers the others.
type inlet struct {
	from  *stream.Reader
	out   *outlet
	ready chan struct{}
	rest  []byte // of a line

	mu  sync.Mutex
	bad int
	err error
}

func newInlet(from io.Reader, out *outlet) *inlet {
	return &inlet{from: stream.NewReader(from, mostLine), out: out, ready: make(chan struct{})}
}

// open lets the first line through.
func (r *inlet) open() { close(r.ready) }

// failed returns why the connection ended, nil if the editor left.
func (r *inlet) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Read returns the next part of a message.
func (r *inlet) Read(p []byte) (int, error) {
	<-r.ready
	for len(r.rest) == 0 {
		_ = r.out.Room(fullAt) // if the editor has left, its last lines are read
		line, number, err := r.from.Line()
		if bad, ok := errors.AsType[*stream.LineError](err); ok {
			err = r.refuse(-32700, number, bad.Err.Error(), idOf(bad.Begins))
		} else if err == nil {
			if what := notMessage(line); what != "" {
				err = r.refuse(-32600, number, what, nil)
			} else {
				r.rest = append(line, '\n')
			}
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// notMessage says why a line is not a message; "" if it is one.
func notMessage(line []byte) string {
	var m struct {
		ID     json.RawMessage        `json:"id"`
		Method *string                `json:"method"`
		Params json.RawMessage        `json:"params"`
		Error  *protocol.RequestError `json:"error"`
	}
	switch err := json.Unmarshal(line, &m); {
	case err != nil && json.Valid(line):
		return "it is not a JSON-RPC message: it must be an object with a method or an id"
	case err != nil:
		return "it is not a JSON-RPC message: " + err.Error()
	case m.Method == nil && m.ID == nil:
		return "it is not a JSON-RPC message: it has neither a method nor an id"
	}
	return ""
}

// idOf returns the id of a message from its beginning, or nil if the id is not in that. The answer needs the id: without it an editor
// would wait forever.
func idOf(begins []byte) (id any) {
	d := json.NewDecoder(bytes.NewReader(begins))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil
		}
		if key == "id" {
			return value
		}
	}
}

// refuse answers a line that is not a message. The error ends the connection.
func (r *inlet) refuse(code, number int, what string, id any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad++; r.bad > mostBad {
		r.err = fmt.Errorf("%d lines on stdin are not the Agent Client Protocol; the last one is line %d: %s", r.bad, number, what)
		return io.EOF
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": protocol.RequestError{Code: code, Message: fmt.Sprintf("line %d: %s", number, what)}})
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	return err
}

// outlet writes to the editor. A command that runs does not wait for the editor.
type outlet struct{ *stream.Queue[[]byte] }

func newOutlet(to io.Writer) *outlet {
	return &outlet{stream.NewQueue(func(p []byte) error {
		_, err := to.Write(p)
		return err
	})}
}

// Write takes a message. It waits while too much waits for the editor.
func (o *outlet) Write(p []byte) (int, error) {
	if err := o.Room(fullAt); err != nil {
		return 0, err
	}
	o.Add(bytes.Clone(p), len(p))
	return len(p), nil
}

// busy reports whether the editor does not keep up.
func (o *outlet) busy() bool { return o.Over(busyAt) }

// leave gives the editor some time to read what is left. After that nothing waits for it any more.
func (o *outlet) leave() (stop func() bool) {
	return time.AfterFunc(lastWords, func() { o.Fail(os.ErrDeadlineExceeded) }).Stop
}
