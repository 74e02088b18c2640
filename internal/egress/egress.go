// Package egress is the proxy by which a confined command reaches the hosts that it may reach, and no other.
//
// It speaks HTTP: CONNECT for TLS and other streams, and requests with an absolute URL for plain HTTP. One reader and one
// check decide about both. A name is resolved here, its addresses are checked, and a checked address is dialled, so a name
// that changes its address between two questions gains nothing. Addresses of this machine, of its own network and of a
// cloud's metadata service are refused, except for hosts that the user named.
//
// A host that no list has can be a question: the connection waits for its answer. Its name is not resolved before a yes, because who serves
// the names of a domain sees what is asked; and a yes opens no address that is refused otherwise.
//
// What it cannot prevent: a command may send everything that it can read to a host that it may reach, and behind a
// host that serves many names TLS hides which one is asked for. The name in a TLS greeting is compared; encrypted ones
// are not seen.
package egress

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/script/runner"
)

// Limits of one proxy.
const (
	maxConnections = 64       // from the command at the same time; more wait
	maxHeader      = 16 << 10 // bytes of a request without its body
	maxSeen        = 20       // hosts that Reached and Refused return
	headerTime     = 10 * time.Second
	idleTime       = 30 * time.Second // between two plain requests
	dialTime       = 10 * time.Second
)

// The causes of a refusal.
var (
	ErrNotAllowed = errors.New("the host is not allowed")
	ErrSaidNo     = fmt.Errorf("%w: the user said no", ErrNotAllowed)
	ErrPrivate    = errors.New("the host has only addresses of this machine or of its own network")
	errHello      = errors.New("TLS asks for another host than the one that was named")
)

// Options says how proxies reach the network. The zero value is useful.
type Options struct {
	// Upstream returns the proxy of the operator for a URL, nil for none, as http.Transport.Proxy does; nil means none. The
	// proxy is http:// or https://.
	Upstream func(*url.URL) (*url.URL, error)

	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)         // nil means the system's resolver
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil means a net.Dialer
}

// Proxy serves one run of one command. Its methods are safe for concurrent use.
type Proxy struct {
	o       Options
	hosts   []hostname.Pattern
	private []hostname.Pattern
	denied  func(host string) bool
	ask     func(context.Context, string) runner.Verdict
	token   string
	server  *http.Server

	mu      sync.Mutex
	tunnels map[net.Conn]bool // open, of both sides
	closed  bool
	reached []string
	failed  []string
	refused []runner.Refusal
	asked   map[string]*question
}

// Open returns a proxy for one command, which serves nothing yet: n says which hosts it may reach, and a request must have
// the token as a password, unless that is "". o may be nil. It returns an error for a host that cannot be read.
func Open(n *runner.Network, token string, o *Options) (*Proxy, error) {
	if o == nil {
		o = &Options{}
	}
	p := &Proxy{o: *o, token: token, tunnels: map[net.Conn]bool{}, ask: n.Ask, denied: n.Denied, asked: map[string]*question{}}
	var err error
	if p.hosts, err = parse(n.Hosts); err != nil {
		return nil, err
	}
	if p.private, err = parse(n.Private); err != nil {
		return nil, err
	}

	if o.Resolve == nil {
		p.o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if o.Dial == nil {
		p.o.Dial = (&net.Dialer{}).DialContext
	}
	p.server = &http.Server{Handler: p, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	return p, nil
}

func parse(texts []string) ([]hostname.Pattern, error) {
	var out []hostname.Pattern
	for _, text := range texts {
		one, err := hostname.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", text, err)
		}
		out = append(out, one)
	}
	return out, nil
}

// Serve answers the connections of l until Close, and then returns nil. It closes l.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(limited{l, make(chan struct{}, maxConnections)})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends Serve, every connection and every question.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, q := range p.asked {
		q.end()
	}
	for c := range p.tunnels {
		c.Close()
	}
	p.mu.Unlock()
	return p.server.Close()
}

// Reached returns the hosts that were reached, as HOST:PORT, the first 20.
func (p *Proxy) Reached() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reached)
}

// Failed returns the hosts that are allowed and could not be reached, as HOST:PORT, the first 20.
func (p *Proxy) Failed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.failed)
}

// Refused returns the hosts that were refused, the first 20, and those about which a question has no answer.
func (p *Proxy) Refused() []runner.Refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(p.refused)
	for _, r := range p.unanswered() {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// note records what became of a request.
func (p *Proxy) note(host string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r := (runner.Refusal{Host: host, Private: errors.Is(err, ErrPrivate), Said: errors.Is(err, ErrSaidNo)}); {
	case errors.Is(err, errLeft):
	case err == nil && len(p.reached) < maxSeen && !slices.Contains(p.reached, host):
		p.reached = append(p.reached, host)
	case refusal(err) && len(p.refused) < maxSeen && !slices.Contains(p.refused, r):
		p.refused = append(p.refused, r)
	case err != nil && !refusal(err) && len(p.failed) < maxSeen && !slices.Contains(p.failed, host):
		p.failed = append(p.failed, host)
	}
}

// refusal reports whether an error is a decision of the proxy, and not a failure of the network.
func refusal(err error) bool {
	return errors.Is(err, ErrNotAllowed) || errors.Is(err, ErrPrivate) || errors.Is(err, errHello)
}

// authorized compares the token of a request in constant time.
func (p *Proxy) authorized(r *http.Request) bool {
	if p.token == "" {
		return true
	}
	encoded, _ := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	text, _ := base64.StdEncoding.DecodeString(encoded)
	_, password, _ := strings.Cut(string(text), ":")
	return subtle.ConstantTimeCompare([]byte(password), []byte(p.token)) == 1
}

// ServeHTTP answers one request of the command.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.authorized(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="egress"`)
		http.Error(w, "this proxy serves one run only, and asks for its token", http.StatusProxyAuthRequired)
		return
	}
	t, err := readTarget(r)
	if err != nil {
		http.Error(w, "refused: "+err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, r, t)
		return
	}
	p.forward(w, r, t)
}

// target is the host and port of a request, as they are checked, resolved and dialled.
type target struct {
	host  string // canonical
	port  uint16
	plain bool // HTTP without TLS
}

// String returns HOST:PORT.
func (t target) String() string { return net.JoinHostPort(t.host, fmt.Sprint(t.port)) }

// readTarget reads where a request goes. The header Host plays no part.
func readTarget(r *http.Request) (t target, err error) {
	text := r.RequestURI
	if r.Method != http.MethodConnect {
		if r.URL.Scheme != "http" || r.URL.Opaque != "" || r.URL.User != nil {
			return t, errors.New("a proxy is asked for http://HOST/PATH, or by CONNECT")
		}
		t.plain = true
		if text = r.URL.Host; r.URL.Port() == "" {
			text += ":80"
		}
	}
	named, err := targetOf(text)
	named.plain = t.plain
	return named, err
}

// targetOf reads HOST:PORT.
func targetOf(text string) (t target, err error) {
	host, port, err := hostname.Split(text)
	if err != nil {
		return t, fmt.Errorf("host %.100q: %w", text, err)
	}
	if t.host, err = hostname.Canonical(host); err != nil {
		return t, fmt.Errorf("host %.100q: %w", text, err)
	}
	t.port = port
	return t, nil
}
