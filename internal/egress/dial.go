package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/address"
	"github.com/agent-base/agent-base/internal/hostname"
)

// link is a connection towards a target.
type link struct {
	net.Conn
	read  *bufio.Reader // of Conn, with what was read too early
	proxy *url.URL      // the operator's proxy, which gets plain requests with their whole URL; nil for none
}

// connect checks a target and connects to it. Its error is a refusal or a failure.
func (p *Proxy) connect(ctx context.Context, t target) (*link, error) {
	if err := p.admit(ctx, t); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	proxy, err := p.upstream(t)
	if err != nil {
		return nil, err
	}
	addresses, err := p.addresses(ctx, t, proxy != nil)
	switch {
	case err != nil:
		return nil, err
	case proxy != nil:
		return p.through(ctx, t, proxy)
	}
	c, err := p.dial(ctx, addresses, t.port)
	if err != nil {
		return nil, err
	}
	return &link{Conn: c, read: bufio.NewReader(c)}, nil
}

func matches(list []hostname.Pattern, t target) bool {
	return slices.ContainsFunc(list, func(h hostname.Pattern) bool { return h.Matches(t.host, t.port) })
}

// addresses returns the addresses of a target that may be dialled. A proxy of the operator resolves names itself: there a
// name without an address is left to it, and one private address is enough for a refusal.
func (p *Proxy) addresses(ctx context.Context, t target, proxied bool) ([]netip.Addr, error) {
	all, err := p.resolve(ctx, t.host)
	if err != nil {
		if proxied {
			return nil, nil
		}
		return nil, err
	}
	if matches(p.private, t) {
		return all, nil
	}
	own := address.Own()
	allowed := slices.DeleteFunc(slices.Clone(all), func(a netip.Addr) bool { return !address.Public(a, own) })
	if len(allowed) == 0 || proxied && len(allowed) < len(all) {
		return nil, ErrPrivate
	}
	return allowed, nil
}

func (p *Proxy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return p.o.Resolve(ctx, host)
}

// dial connects to the first of the addresses that answers.
func (p *Proxy) dial(ctx context.Context, addresses []netip.Addr, port uint16) (net.Conn, error) {
	var errs []error
	for i, a := range addresses {
		left := time.Duration(dialTime)
		if end, ok := ctx.Deadline(); ok {
			left = time.Until(end)
		}
		part, cancel := context.WithTimeout(ctx, max(left/time.Duration(len(addresses)-i), time.Second))
		c, err := p.o.Dial(part, "tcp", netip.AddrPortFrom(a.Unmap(), port).String())
		cancel()
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// upstream returns the operator's proxy for a target, nil for none.
func (p *Proxy) upstream(t target) (*url.URL, error) {
	if p.o.Upstream == nil {
		return nil, nil
	}
	proxy, err := p.o.Upstream(&url.URL{Scheme: t.scheme(), Host: t.String()})
	if err == nil && proxy != nil && proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, fmt.Errorf("a proxy of the kind %q cannot be used", proxy.Scheme)
	}
	return proxy, err
}

func (t target) scheme() string {
	if t.plain {
		return "http"
	}
	return "https"
}

// through connects to a target by the operator's proxy.
func (p *Proxy) through(ctx context.Context, t target, proxy *url.URL) (*link, error) {
	port := map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	c, err := p.o.Dial(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), port)))
	if err != nil {
		return nil, err
	}
	if proxy.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: proxy.Hostname()})
	}
	l := &link{Conn: c, read: bufio.NewReader(c), proxy: proxy}
	if t.plain {
		return l, nil
	}
	if err := l.ask(ctx, t); err != nil {
		c.Close()
		return nil, err
	}
	return l, nil
}

// ask asks the operator's proxy for a tunnel.
func (l *link) ask(ctx context.Context, t target) error {
	if end, ok := ctx.Deadline(); ok {
		_ = l.SetDeadline(end)
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: t.String()}, Host: t.String(), Header: http.Header{}}
	l.authorize(r.Header)
	if err := r.Write(l.Conn); err != nil {
		return err
	}
	answer, err := http.ReadResponse(l.read, r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the operator's proxy answers %q", answer.Status)
	}
	return l.SetDeadline(time.Time{})
}

// authorize adds the credentials of the operator's proxy to a request for it.
func (l *link) authorize(h http.Header) {
	if l.proxy == nil || l.proxy.User == nil {
		return
	}
	password, _ := l.proxy.User.Password()
	h.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(l.proxy.User.Username()+":"+password)))
}
