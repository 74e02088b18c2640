package mcphost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of a conversation over HTTP.
const (
	maxRemote   = 32 << 20        // bytes that answer nothing, between two answers
	headersWait = 5 * time.Second // remote.begin
	maxHeaders  = 256 << 10       // bytes
	maxHops     = 3               // redirects of a request, on the same host
	manyRetries = 1 << 20         // of a stream: what ends it is its server, or the end of the conversation
)

// CheckURL returns an error for what cannot be the address of a server: it must be https, or http on this machine.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("its address cannot be read: %w", err)
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("its address must be https://HOST/PATH, without a user or a fragment")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("its address must begin with https: http would show %s to everybody on the way", u.Hostname())
	}
	return fmt.Errorf("its address must begin with https, not %q", u.Scheme)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// remote is the other side of a Conn whose server is reached by HTTP.
type remote struct {
	url    string
	client *http.Client
	kill   func(string)
	wire   *wire         // of the Conn
	probe  time.Duration // how long the headers of the answer to server/discover may take; 0: as long as it takes
	begin  time.Duration // likewise those of a stream that nobody waits for

	relisten time.Duration // how long a stream of changes that its server ended is over, at first

	why      atomic.Value  // of type string: what was wrong with an answer
	lost     chan struct{} // closed when the conversation has ended
	attended atomic.Bool   // attend was called
	gone     atomic.Bool   // the server says that it does not know the session
	silent   atomic.Bool   // server/discover was given up
	noise    atomic.Int64  // bytes since the last answer
}

// newRemote returns the other side for a client that adds what identifies the user; it may be nil.
func newRemote(address string, client *http.Client, kill func(string)) *remote {
	r := &remote{url: address, kill: kill, probe: defaultProbe, begin: headersWait, relisten: listenWait, lost: make(chan struct{})}
	own := http.Client{}
	if client != nil {
		own = *client
	}
	base := own.Transport
	if base == nil {
		base = &http.Transport{MaxResponseHeaderBytes: maxHeaders, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	}
	own.Transport, own.CheckRedirect, own.Timeout = &guard{r, base}, sameHost, 0
	r.client = &own
	return r
}

// transport returns how the SDK reaches the server.
func (r *remote) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: r.url, HTTPClient: r.client, MaxRetries: manyRetries, MaxEventSize: maxRead}
}

// sameHost lets a request be redirected on its own host only, and only if it stays the same: what identifies the user is sent along.
func sameHost(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host:
		return fmt.Errorf("it redirects to %s, and what identifies you is not sent there: configure that address if you trust it", next.URL.Redacted())
	case len(before) > maxHops || next.Method != first.Method:
		return fmt.Errorf("it redirects to %s: configure that address", next.URL.Redacted())
	}
	return nil
}

// guard looks at all that goes to a server and comes from it.
type guard struct {
	r    *remote
	base http.RoundTripper
}

// RoundTrip sends a request. Streams that nobody waits for must begin soon, and no answer is longer than it may be.
func (g *guard) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := g.send(q)
	if err != nil {
		return nil, err
	}
	if q.Header.Get("Mcp-Method") == "subscriptions/listen" && isStream(resp) {
		resp.Body = g.listened(q, resp.Body)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		drop(resp)
		return nil, errLogin
	case http.StatusNotFound:
		if q.Header.Get("Mcp-Session-Id") != "" {
			g.r.gone.Store(true)
		}
	}
	most := int64(g.r.wire.most())
	if q.Method == http.MethodGet || isStream(resp) {
		most = 0
	}
	resp.Body = &metered{ReadCloser: resp.Body, r: g.r, most: most}
	return resp, nil
}

// errLogin is the error of a request whose answer is 401.
var errLogin = errors.New("it wants to know who you are")

// send sends a request, and gives up one whose answer does not begin in time.
func (g *guard) send(q *http.Request) (*http.Response, error) {
	var wait time.Duration
	method := q.Header.Get("Mcp-Method")
	switch {
	case method == "server/discover":
		wait = g.r.probe
	case method == "subscriptions/listen", q.Method == http.MethodGet:
		wait = g.r.begin
	}
	if wait == 0 {
		return g.base.RoundTrip(q)
	}
	ctx, cancel := context.WithCancel(q.Context())
	timer := time.AfterFunc(wait, cancel)
	resp, err := g.base.RoundTrip(q.WithContext(ctx))
	late := !timer.Stop()
	if err == nil && !late {
		resp.Body = &cancelling{resp.Body, cancel}
		return resp, nil
	}
	cancel()
	if err == nil {
		drop(resp)
	}
	if q.Context().Err() != nil || !late {
		return nil, err
	}
	if method == "server/discover" {
		g.r.silent.Store(true)
	}
	return &http.Response{StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(nil)), Request: q}, nil
}

func isStream(resp *http.Response) bool {
	return bytes.HasPrefix([]byte(resp.Header.Get("Content-Type")), []byte("text/event-stream"))
}

func drop(resp *http.Response) { _ = resp.Body.Close() }

// cancelling ends its request when it is closed.
type cancelling struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (c *cancelling) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}

// metered is the body of an answer: of limited length, and counted until there is an answer.
type metered struct {
	io.ReadCloser
	r    *remote
	most int64 // bytes; 0 for a stream
	read int64
}

// Read reads.
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.read += int64(n)
	if m.most > 0 && m.read > m.most {
		why := fmt.Sprintf("its answer has more than %d bytes", m.most)
		m.r.why.Store(why)
		return 0, errors.New(why)
	}
	if m.r.noise.Add(int64(n)+perLine*int64(bytes.Count(p[:n], []byte("\n")))) > maxRemote {
		why := fmt.Sprintf("it sent more than %d MiB that answer nothing", maxRemote>>20)
		m.r.kill(why)
		return 0, errors.New(why)
	}
	return n, err
}

// attend notes the end of the conversation, and ends it with the Conn.
func (r *remote) attend(c *Conn) {
	session := c.session
	r.attended.Store(true)
	go func() {
		_ = session.Wait()
		close(r.lost)
	}()
	go func() {
		select {
		case <-c.w.closed:
		case <-c.w.ended:
		}
		_ = session.Close()
	}()
}

// errGone is how a conversation ends that the server has forgotten. It is begun again.
var errGone = errors.New("the server does not know the session any more")

// leave waits for a while until the server knows that the conversation is over.
func (r *remote) leave() {
	if !r.attended.Load() {
		return
	}
	select {
	case <-r.lost:
	case <-time.After(endGrace):
	}
}

// carry waits until the conversation with a server is over.
func (r *remote) carry(ctx context.Context, c *Conn) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.w.closed:
		r.leave()
		return nil
	case <-r.lost:
	}
	if r.gone.Load() {
		return errGone
	}
	if why, ok := r.why.Load().(string); ok {
		return errors.New(why)
	}
	return errors.New("the connection was lost")
}

// forgotten reports whether the server does not know the conversation any more.
func (c *Conn) forgotten() bool { return c.o.remote != nil && c.o.remote.gone.Load() }
