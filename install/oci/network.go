package oci

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"oras.land/oras-go/v2/registry/remote/retry"
)

// form is the type of a request that has the user's token in its body.
const form = "application/x-www-form-urlencoded"

// redirects is how many redirects of one request are followed.
const redirects = 5

// transport makes the connections for one Fetch or Push. It tries again what may succeed later.
type transport struct {
	retry.Transport
	secure http.RoundTripper
	plain  *http.Transport // for http to this machine; nil if that is not allowed
	host   string          // of the registry
	passed func(host string)
}

func (c *Client) transport(registry string, plain bool) *transport {
	t := &transport{secure: c.o.Transport, host: registry, passed: func(string) {}}
	if tell := c.o.Passed; tell != nil {
		var told sync.Map
		t.passed = func(host string) {
			if _, before := told.LoadOrStore(host, true); !before {
				tell(registry, host)
			}
		}
	}
	if plain {
		t.plain = &http.Transport{DisableCompression: true, ResponseHeaderTimeout: c.o.idle}
	}
	t.Transport = retry.Transport{Base: roundTripper(t.once), Policy: retryPolicy}
	return t
}

// roundTripper is a function as an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// once sends a request once: by https, or to this machine if that is allowed.
func (t *transport) once(req *http.Request) (*http.Response, error) {
	plain := t.plain != nil && req.URL.Scheme == "http" && loopback(req.URL.Host)
	if !plain && req.URL.Scheme != "https" {
		return nil, fmt.Errorf("the registry names %s, which is not asked by https", req.URL.Host)
	}
	if req.URL.Host != t.host && (req.Header.Get("Authorization") != "" || req.Method == http.MethodPost && req.Header.Get("Content-Type") == form) {
		t.passed(req.URL.Host)
	}
	if plain {
		return t.plain.RoundTrip(req)
	}
	return t.secure.RoundTrip(req)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.secure.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	if t.plain != nil {
		t.plain.CloseIdleConnections()
	}
}

func retryPolicy() retry.Policy {
	return &retry.GenericPolicy{Retryable: mayPass, Backoff: retry.DefaultBackoff, MinWait: 200 * time.Millisecond, MaxWait: 3 * time.Second, MaxRetry: 3}
}

// mayPass reports whether another attempt may help: not after a registry was silent for the whole time that it has.
func mayPass(res *http.Response, err error) (bool, error) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return true, nil
		}
		return false, err
	}
	return retry.DefaultPredicate(res, err)
}

// checkRedirect ends a chain of redirects that is long or leaves https.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > redirects {
		return fmt.Errorf("the registry redirects more than %d times", redirects)
	}
	if req.URL.Scheme != "https" && via[0].URL.Scheme != req.URL.Scheme {
		return fmt.Errorf("the registry redirects to %s", req.URL.Scheme)
	}
	if req.URL.Scheme == "http" && !loopback(req.URL.Host) {
		return errors.New("the registry redirects to http on another machine")
	}
	return nil
}

// loopback reports whether a host, perhaps with a port, is a loopback address by its name.
func loopback(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}
