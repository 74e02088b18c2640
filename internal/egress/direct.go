package egress

import (
	"bufio"
	"context"
	"fmt"
	"net"
)

// Dial connects to HOST:PORT for this program itself: it decides as about a tunnel of the command, and waits for the answer to a question.
// Its error wraps ErrNotAllowed or ErrPrivate for a refusal. Close ends the connection.
func (p *Proxy) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	t, err := targetOf(address)
	if err != nil {
		return nil, err
	}
	up, err := p.connect(ctx, t)
	p.note(t.String(), err)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	c := direct{up.Conn, up.read, p}
	if !p.hold(up.Conn) {
		c.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// direct is a connection whose first bytes may have been read already.
type direct struct {
	net.Conn
	read *bufio.Reader
	of   *Proxy
}

func (d direct) Read(p []byte) (int, error) { return d.read.Read(p) }

func (d direct) Close() error {
	d.of.release(d.Conn)
	return d.Conn.Close()
}
