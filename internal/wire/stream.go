package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// NewPost returns a request that sends body as JSON and asks for a stream of events. It fails if body cannot be
// marshalled.
func NewPost(ctx context.Context, address string, body any) (*http.Request, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, &text)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	return req, nil
}

// Events reads the server-sent events of an answer. Only their data is kept, since the providers' events say in it
// what they are. The reader below bounds the length of a line and of the whole, as a Client's body does.
type Events struct {
	lines *bufio.Reader
	data  []byte
	err   error
}

// NewEvents returns the events of r.
func NewEvents(r io.Reader) *Events {
	return &Events{lines: bufio.NewReader(r)}
}

// Next reads the next event that has data. It returns false at the end, or if reading fails: see Err.
func (e *Events) Next() bool {
	e.data = e.data[:0]
	for e.err == nil {
		var line []byte
		line, e.err = e.lines.ReadBytes('\n')
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			e.data = append(append(e.data, value...), '\n')
		}
		if e.err == nil && len(line) == 0 && len(bytes.TrimSpace(e.data)) > 0 {
			return true
		}
	}
	// Some servers leave out the last empty line. What was cut off is not an event.
	return e.err == io.EOF && json.Valid(e.data)
}

// Data returns the data of the event. It is valid until Next is called again.
func (e *Events) Data() []byte { return bytes.TrimSpace(e.data) }

// Err returns why reading failed; nil at the end of the answer.
func (e *Events) Err() error {
	if e.err == io.EOF {
		return nil
	}
	return e.err
}
