package egress

import (
	"net"
	"sync"
)

// limited is a listener with a bounded number of open connections. More wait in the system's queue.
type limited struct {
	net.Listener
	room chan struct{}
}

// Accept waits until there is room.
func (l limited) Accept() (net.Conn, error) {
	l.room <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &counted{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// counted gives its room back when it is closed.
type counted struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite says to the other side that nothing more comes.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite ends one direction of a connection, if it has two.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
