package stream

import (
	"sync"

	"github.com/agent-base/agent-base/tool"
)

// mostWaiting is how many bytes of output may wait for the reader of the lines. What comes then is left out, and counted.
const mostWaiting = 256 << 10

// Writer writes lines in the order in which they come. It writes in a goroutine of its own, so a running command does not wait for the
// reader of the lines. It is safe for concurrent use.
type Writer struct {
	write func(Line) error

	mu      sync.Mutex
	changed *sync.Cond
	queue   []Line
	waiting int              // bytes of output in the queue
	left    map[string]int64 // bytes of the output of calls that were left out
	added   int              // lines
	written int
	closed  bool
	err     error // the first one of write
}

// NewWriter returns a Writer that writes with write, which is called by one goroutine at a time. Close ends it.
func NewWriter(write func(Line) error) *Writer {
	w := &Writer{write: write, left: map[string]int64{}}
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

func (w *Writer) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 {
			if w.closed {
				return
			}
			w.changed.Wait()
		}
		l := w.queue[0]
		if w.queue = w.queue[1:]; l.Type == string(tool.EventOutput) {
			w.waiting -= len(l.Text)
		}
		w.mu.Unlock()
		err := w.write(l)
		w.mu.Lock()
		w.written++
		if w.err == nil {
			w.err = err
		}
		w.changed.Broadcast()
	}
}

// Write writes a line and waits until it is written. It returns the first error that there was, of this or an earlier line.
func (w *Writer) Write(l Line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.add(l)
	for last := w.added; w.written < last; {
		w.changed.Wait()
	}
	return w.err
}

// Event writes the line for what happens during a call, if it has one. It never waits.
func (w *Writer) Event(e tool.Event) {
	l, ok := OfEvent(&e)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == tool.EventOutput {
		if w.waiting+len(l.Text) > mostWaiting {
			w.left[e.Call] += l.Left + int64(len(l.Text))
			return
		}
		l.Left += w.left[e.Call]
		delete(w.left, e.Call)
		w.waiting += len(l.Text)
	}
	w.add(l)
}

func (w *Writer) add(l Line) {
	w.queue = append(w.queue, l)
	w.added++
	w.changed.Broadcast()
}

// Close waits until everything is written, and returns the first error. Nothing may be written later.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.changed.Broadcast()
	for w.written < w.added {
		w.changed.Wait()
	}
	return w.err
}
