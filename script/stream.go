package script

const stderrKept = 64 << 10 // bytes of stderr that an Output has at most

// headBuffer keeps the first max bytes and counts the rest.
type headBuffer struct {
	buf   []byte
	max   int64
	total int64
	full  func() // called once when more than max has come; may be nil
}

// Write never fails, so the process that writes is never blocked.
func (h *headBuffer) Write(p []byte) (int, error) {
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

// tailBuffer keeps the last max bytes; it never holds more than twice as many.
type tailBuffer struct {
	buf []byte
	max int
}

// Write never fails.
func (t *tailBuffer) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-t.max):]
	if len(t.buf)+len(p) > 2*t.max {
		keep := t.bytes()
		t.buf = t.buf[:copy(t.buf, keep)]
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *tailBuffer) bytes() []byte { return t.buf[max(0, len(t.buf)-t.max):] }
