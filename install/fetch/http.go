package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/agent-base/agent-base/internal/address"
	"github.com/agent-base/agent-base/internal/hostname"
)

// What options of HTTPOptions are when they are 0, and the limits of one request.
const (
	maxDownload    = 50 << 20
	defaultMaxTime = 10 * time.Minute
	defaultIdle    = 30 * time.Second

	maxRedirects = 5
	maxHeader    = 64 << 10 // bytes
	dialTime     = 10 * time.Second
)

// Errors of requests that were refused before they were sent.
var (
	errNotHTTPS = errors.New("only https is used")
	ErrPrivate  = errors.New("the host has only addresses of this machine or of its own network")
)

// HTTPOptions says how files are downloaded. Zero values mean the defaults.
type HTTPOptions struct {
	// Proxy returns the operator's proxy for a request, nil for none, as http.Transport.Proxy does. A nil Proxy means none.
	Proxy func(*http.Request) (*url.URL, error)

	// Private lists hosts, as HOST or HOST:PORT, that may have addresses of this machine or of its network: those that the user
	// named. Without a port it means 443.
	Private []string

	RootCAs *x509.CertPool // whose certificates are accepted; nil means the system's
	maxTime time.Duration  // of one download, with all attempts; 0 means 10 minutes
	idle    time.Duration  // after which a download that does not move is ended: less than 1 KiB came; 0 means 30 s

	resolve func(ctx context.Context, host string) ([]netip.Addr, error)         // nil means the system's resolver
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil means a net.Dialer
	sleep   func(context.Context, time.Duration) error                           // waits before another attempt; nil means by the clock
}

// Client returns a client for foreign hosts. It speaks https only and follows at most 5 redirects, none of them to another
// scheme. It connects to addresses that it checked: not to this machine, its network or the metadata service of a cloud,
// except for the hosts of o.Private. It takes answers as they are: Content-Encoding is not decoded. It has no cookies, and
// headers with credentials do not follow a redirect to another host. The error of a request to an address that it refuses
// wraps ErrPrivate.
//
// The certificate of a host must be valid; there is no option that changes this. With a proxy of the operator the proxy resolves
// names: a host is refused then if one of its addresses is private here. o may be nil. An error is about o.Private.
func Client(o *HTTPOptions) (*http.Client, error) {
	if o == nil {
		o = &HTTPOptions{}
	}
	t := &transport{proxy: o.Proxy, resolve: o.resolve, dial: o.dial}
	for _, text := range o.Private {
		p, err := hostname.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", text, err)
		}
		t.private = append(t.private, p)
	}
	if t.resolve == nil {
		t.resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if t.dial == nil {
		t.dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	t.direct = plainTransport(o)
	t.direct.DialContext = t.connect
	t.proxied = plainTransport(o)
	t.proxied.Proxy, t.proxied.DialContext = t.proxy, t.dial
	return &http.Client{Transport: t, CheckRedirect: checkRedirect}, nil
}

func plainTransport(o *HTTPOptions) *http.Transport {
	return &http.Transport{
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  cmp.Or(o.idle, defaultIdle),
		MaxResponseHeaderBytes: maxHeader,
		MaxConnsPerHost:        8,
		IdleConnTimeout:        time.Minute,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
}

// refusal is an error that another attempt does not change.
type refusal struct{ error }

// Unwrap returns the cause.
func (r refusal) Unwrap() error { return r.error }

// checkRedirect is http.Client.CheckRedirect. The address of the page before is not sent on, since it may be secret.
func checkRedirect(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer")
	if len(via) > maxRedirects {
		return refusal{fmt.Errorf("more than %d redirects", maxRedirects)}
	}
	return checkURL(req.URL)
}

// checkURL refuses a URL that is not fetched, whatever host it names.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "https":
		return refusal{fmt.Errorf("%s: %w", clean(u), errNotHTTPS)}
	case u.User != nil:
		return refusal{fmt.Errorf("%s: a URL with a user name is not used", clean(u))}
	}
	if _, err := hostname.Canonical(hostOf(u)); err != nil {
		return refusal{fmt.Errorf("host %.100q: %w", u.Hostname(), err)}
	}
	return nil
}

// hostOf returns the host of a URL as package hostname reads it.
func hostOf(u *url.URL) string {
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && a.Is6() {
		return "[" + u.Hostname() + "]"
	}
	return u.Hostname()
}

// clean returns a URL for messages and records: without credentials, its query and its fragment.
func clean(u *url.URL) string {
	c := *u
	c.User, c.RawQuery, c.Fragment, c.RawFragment = nil, "", "", ""
	return c.String()
}

// transport sends requests to hosts that may be reached.
type transport struct {
	proxy           func(*http.Request) (*url.URL, error)
	private         []hostname.Pattern
	resolve         func(context.Context, string) ([]netip.Addr, error)
	dial            func(ctx context.Context, network, address string) (net.Conn, error)
	direct, proxied *http.Transport
}

// RoundTrip sends one request.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := checkURL(req.URL); err != nil {
		return nil, err
	}
	if t.proxy != nil {
		proxy, err := t.proxy(req)
		if err != nil {
			return nil, err
		}
		if proxy != nil {
			if err := t.checkProxied(req.Context(), req.URL); err != nil {
				return nil, err
			}
			return t.proxied.RoundTrip(req)
		}
	}
	return t.direct.RoundTrip(req)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	t.direct.CloseIdleConnections()
	t.proxied.CloseIdleConnections()
}

// checkProxied refuses a host that a proxy must not be asked for. A name without an address here is left to the proxy.
func (t *transport) checkProxied(ctx context.Context, u *url.URL) error {
	port, _ := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	addresses, allowed, err := t.addresses(ctx, hostOf(u), uint16(port))
	if err == nil && len(allowed) < len(addresses) {
		return refusal{fmt.Errorf("%s: %w", u.Host, ErrPrivate)}
	}
	return nil
}

// connect is http.Transport.DialContext: it resolves the name, and connects to an address that it has checked.
func (t *transport) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := hostname.Split(address)
	if err != nil {
		return nil, fmt.Errorf("host %.100q: %w", address, err)
	}
	_, allowed, err := t.addresses(ctx, host, port)
	if err != nil {
		return nil, err
	}
	if len(allowed) == 0 {
		return nil, refusal{fmt.Errorf("%s: %w", address, ErrPrivate)}
	}
	var errs []error
	for _, a := range allowed {
		part, cancel := context.WithTimeout(ctx, dialTime)
		c, err := t.dial(part, network, netip.AddrPortFrom(a.Unmap(), port).String())
		cancel()
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// addresses returns the addresses of a host, and those of them that may be reached.
func (t *transport) addresses(ctx context.Context, host string, port uint16) (all, allowed []netip.Addr, err error) {
	host, err = hostname.Canonical(host)
	if err != nil {
		return nil, nil, fmt.Errorf("host %.100q: %w", host, err)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		all = []netip.Addr{a}
	} else if all, err = t.resolve(ctx, host); err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(t.private, func(p hostname.Pattern) bool { return p.Matches(host, port) }) {
		return all, all, nil
	}
	own := address.Own()
	for _, a := range all {
		if address.Public(a, own) {
			allowed = append(allowed, a)
		}
	}
	return all, allowed, nil
}
