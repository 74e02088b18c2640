package hosttool

import (
	"fmt"
	"io"
	"strings"
)

// headTail keeps the beginning and the end of an output, at most max bytes together.
type headTail struct {
	max   int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // next position in the ring
	total int64
}

// readFrom reads until the end or an error, and keeps what came before it.
func (b *headTail) readFrom(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		b.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (b *headTail) add(p []byte) {
	b.total += int64(len(p))
	half := b.max / 2
	n := min(half-len(b.head), len(p))
	b.head, p = append(b.head, p[:n]...), p[n:]
	if len(p) > half {
		p = p[len(p)-half:]
	}
	n = min(half-len(b.tail), len(p))
	b.tail, p = append(b.tail, p[:n]...), p[n:]
	for len(p) > 0 {
		n := copy(b.tail[b.next:], p)
		p, b.next = p[n:], (b.next+n)%half
	}
}

func (b *headTail) cut() bool { return b.total > int64(len(b.head)+len(b.tail)) }

// text returns what is kept, with a line that says how much is left out.
func (b *headTail) text() string {
	var s strings.Builder
	s.Write(b.head)
	if left := b.total - int64(len(b.head)+len(b.tail)); left > 0 {
		fmt.Fprintf(&s, "\n… %d bytes left out …\n", left)
	}
	s.Write(b.tail[b.next:])
	s.Write(b.tail[:b.next])
	return strings.ToValidUTF8(s.String(), "\ufffd")
}
