package proc

// StderrKept is how many bytes of stderr are kept at most.
const StderrKept = 64 << 10

// Streams keeps the output of one process. Its writers never fail, so the process that writes is never blocked.
type Streams struct {
	Stdout Head
	Stderr Tail
	Full   chan struct{} // closed when stdout has passed its bound; nil if nobody waits for that
}

// NewStreams returns Streams that keep the first maxStdout bytes of stdout and the end of stderr. With stopAtMax they have a
// channel Full.
func NewStreams(maxStdout int64, stopAtMax bool) *Streams {
	s := &Streams{Stdout: Head{max: maxStdout}, Stderr: Tail{max: StderrKept}}
	if stopAtMax {
		s.Full = make(chan struct{})
		s.Stdout.full = func() { close(s.Full) }
	}
	return s
}

// Head keeps the first bytes and counts the rest.
type Head struct {
	buf   []byte
	max   int64
	total int64
	full  func() // called once when more than max has come; may be nil
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	if room := h.max - int64(len(h.buf)); room > 0 {
		h.buf = append(h.buf, p[:min(int64(len(p)), room)]...)
	}
	h.total += int64(len(p))
	if h.total > h.max && h.full != nil {
		h.full()
		h.full = nil
	}
	return len(p), nil
}

// Bytes returns what was kept, nil if that is nothing.
func (h *Head) Bytes() []byte { return h.buf }

// Total returns how many bytes came.
func (h *Head) Total() int64 { return h.total }

// Truncated reports whether more came than was kept.
func (h *Head) Truncated() bool { return h.total > h.max }

// Tail keeps the last bytes; it never holds more than twice as many.
type Tail struct {
	buf []byte
	max int
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-t.max):]
	if len(t.buf)+len(p) > 2*t.max {
		keep := t.Bytes()
		t.buf = t.buf[:copy(t.buf, keep)]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// Bytes returns the last bytes.
func (t *Tail) Bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }
