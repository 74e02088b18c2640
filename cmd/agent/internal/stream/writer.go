package stream

import (
	"sync"

	"github.com/agent-base/agent-base/tool"
)

// mostWaiting is how many bytes of output may wait for the reader of the lines. What comes then is left out, and counted.
const mostWaiting = 256 << 10

// Writer writes lines in the order in which they come. A running command does not wait for the reader of the lines. It is safe for
// concurrent use.
type Writer struct {
	lines *Queue[Line]

	mu   sync.Mutex
	left map[string]int64 // bytes of the output of calls that were left out
}

// NewWriter returns a Writer that writes with write, as NewQueue does.
func NewWriter(write func(Line) error) *Writer {
	return &Writer{lines: NewQueue(write), left: map[string]int64{}}
}

// Write writes a line and waits until it is written. It returns the first error that there was, of this or an earlier line.
func (w *Writer) Write(l Line) error {
	w.lines.Add(l, 0)
	return w.lines.Flush()
}

// Event writes the line for what happens during a call, if it has one. It never waits.
func (w *Writer) Event(e tool.Event) {
	l, ok := OfEvent(&e)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind != tool.EventOutput {
		w.lines.Add(l, 0)
		return
	}
	if w.lines.Over(mostWaiting - len(l.Text)) {
		w.left[e.Call] += l.Left + int64(len(l.Text))
		return
	}
	l.Left += w.left[e.Call]
	delete(w.left, e.Call)
	w.lines.Add(l, len(l.Text))
}

// Close waits until everything is written, and returns the first error. Nothing may be written later.
func (w *Writer) Close() error { return w.lines.Close() }
