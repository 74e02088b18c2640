package run

import (
	"io"
	"sync"
)

// Feed gives what a reader has to the commands of one run, of which all but the last end before they read any of it. Nobody waits for
// a reader that has nothing more: a Read of it that does not return is left alone.
type Feed struct {
	from   io.Reader
	begin  sync.Once
	chunks chan []byte
	stop   chan struct{}
	rest   []byte // of the last chunk
}

// NewFeed returns the feed of a reader, nil for nil. The caller must end it.
func NewFeed(from io.Reader) *Feed {
	if from == nil {
		return nil
	}
	return &Feed{from: from, chunks: make(chan []byte), stop: make(chan struct{})}
}

// End stops the reading.
func (f *Feed) End() {
	if f != nil {
		close(f.stop)
	}
}

// input returns the standard input of one command. No other one may be read any more.
func (f *Feed) input() io.ReadCloser {
	if f == nil {
		return nil
	}
	return &fed{Feed: f, closed: make(chan struct{})}
}

func (f *Feed) pump() {
	defer close(f.chunks)
	for {
		buf := make([]byte, 32<<10)
		n, err := f.from.Read(buf)
		if n > 0 {
			select {
			case f.chunks <- buf[:n]:
			case <-f.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

type fed struct {
	*Feed
	once   sync.Once
	closed chan struct{}
}

func (i *fed) Read(p []byte) (int, error) {
	i.begin.Do(func() { go i.pump() })
	if len(i.rest) == 0 {
		select {
		case <-i.closed:
			return 0, io.ErrClosedPipe
		case chunk, ok := <-i.chunks:
			if !ok {
				return 0, io.EOF
			}
			i.rest = chunk
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

func (i *fed) Close() error {
	i.once.Do(func() { close(i.closed) })
	return nil
}
