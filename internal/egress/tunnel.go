package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/hostname"
)

// tunnel answers CONNECT: it joins the command's connection with one to the target.
func (p *Proxy) tunnel(w http.ResponseWriter, r *http.Request, t target) {
	up, err := p.connect(r.Context(), t)
	p.note(t.String(), err)
	if err == nil {
		defer up.Close()
	}
	down, buffered, hijackErr := http.NewResponseController(w).Hijack()
	if hijackErr != nil {
		return
	}
	_ = down.SetDeadline(time.Time{})
	defer down.Close()
	if err != nil {
		_, _ = io.WriteString(down, refusalText(t, err))
		return
	}
	if !p.hold(down, up.Conn) {
		return
	}
	defer p.release(down, up.Conn)
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connected\r\n\r\n"); err != nil {
		return
	}
	p.join(down, bufio.NewReaderSize(buffered, recordMost), up, t)
}

// refusalText is an answer whose first line says what is wrong: most programs show that line and nothing else.
func refusalText(t target, err error) string {
	status := "502 Cannot reach " + t.String()
	if refusal(err) {
		status = "403 Not allowed to reach " + t.String()
	}
	body := fmt.Sprintf("%s: %v\n", t, err)
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, len(body), body)
}

// hold remembers the connections of a tunnel, which Close ends. It reports whether the proxy is still open.
func (p *Proxy) hold(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.tunnels[c] = true
	}
	return !p.closed
}

func (p *Proxy) release(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.tunnels, c)
	}
}

// join copies in both directions until both have ended. A TLS greeting that asks for another host ends it before anything
// is sent.
func (p *Proxy) join(down net.Conn, from *bufio.Reader, up *link, t target) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(down, up.read)
		_ = closeWrite(down)
	})
	if err := checkHello(from, t); err != nil {
		p.note(t.String(), err)
		up.Close()
		down.Close()
	} else {
		_, _ = io.Copy(up.Conn, from)
		_ = closeWrite(up.Conn)
	}
	both.Wait()
}

// forward answers a plain request: it sends it to the target, and the answer back.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, t target) {
	up, err := p.connect(r.Context(), t)
	p.note(t.String(), err)
	if err != nil {
		status := http.StatusBadGateway
		if refusal(err) {
			status = http.StatusForbidden
		}
		http.Error(w, fmt.Sprintf("%s: %v", t, err), status)
		return
	}
	defer up.Close()
	if !p.hold(up.Conn) {
		return
	}
	defer p.release(up.Conn)
	answer, err := up.exchange(r, t)
	if err != nil {
		http.Error(w, fmt.Sprintf("%s: %v", t, err), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	dropHops(answer.Header)
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(flushing{w, http.NewResponseController(w)}, answer.Body)
}

// exchange sends a request to the target that was checked, under its name, and reads the head of the answer.
func (l *link) exchange(r *http.Request, t target) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.RequestURI, out.Close = "", true
	if out.Host = t.host; strings.Contains(t.host, ":") {
		out.Host = "[" + t.host + "]"
	}
	if t.port != 80 {
		out.Host = t.String()
	}
	out.URL.Host = out.Host
	dropHops(out.Header)
	write := out.Write
	if l.proxy != nil {
		l.authorize(out.Header)
		write = out.WriteProxy
	}
	if err := write(l.Conn); err != nil {
		return nil, err
	}
	for {
		answer, err := http.ReadResponse(l.read, out)
		if err != nil || answer.StatusCode >= 200 {
			return answer, err
		}
	}
}

// dropHops removes the headers that are for one connection only.
func dropHops(h http.Header) {
	for _, list := range h.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Keep-Alive", "Te", "Trailer", "Upgrade", "Expect"} {
		h.Del(name)
	}
}

// flushing sends each piece of an answer at once: a command may wait for it.
type flushing struct {
	io.Writer
	control *http.ResponseController
}

// Write writes and flushes.
func (f flushing) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}

// recordMost is the most bytes that are read to see the name in a TLS greeting.
const recordMost = 18 << 10

// checkHello compares the name in a TLS greeting with the target. It takes nothing out of the reader. Streams that do not
// begin like a greeting, and greetings without a name, pass; a greeting that cannot be read does not.
func checkHello(from *bufio.Reader, t target) error {
	first, err := from.Peek(1)
	if err != nil || first[0] != recordHandshake {
		return nil
	}
	asked, ok := helloName(from)
	if ok && asked == "" {
		return nil
	}
	if name, err := hostname.Canonical(asked); err != nil || name != t.host {
		return errHello
	}
	return nil
}

const recordHandshake = 22 // the type of a TLS record

// helloName returns the name in a TLS greeting, or "", and whether the greeting could be read. Package tls reads it; the
// handshake ends there.
func helloName(from *bufio.Reader) (name string, ok bool) {
	server := tls.Server(&peeking{from: from}, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name, ok = hello.ServerName, true
		return nil, errors.New("the name is known")
	}})
	_ = server.Handshake()
	return name, ok
}

// peeking is a connection that reads ahead of a reader, and drops what is written.
type peeking struct {
	net.Conn
	from *bufio.Reader
	at   int
}

// Read returns bytes that were not returned before. The reader keeps them.
func (c *peeking) Read(b []byte) (int, error) {
	if c.at >= recordMost {
		return 0, io.EOF
	}
	if c.from.Buffered() <= c.at {
		if _, err := c.from.Peek(c.at + 1); err != nil {
			return 0, err
		}
	}
	have, _ := c.from.Peek(c.from.Buffered())
	n, err := bytes.NewReader(have[c.at:]).Read(b)
	c.at += n
	return n, err
}

func (c *peeking) Write(b []byte) (int, error)      { return len(b), nil }
func (c *peeking) Close() error                     { return nil }
func (c *peeking) SetDeadline(time.Time) error      { return nil }
func (c *peeking) SetReadDeadline(time.Time) error  { return nil }
func (c *peeking) SetWriteDeadline(time.Time) error { return nil }
