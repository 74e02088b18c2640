// Package web gets pages of the web as texts for a model.
//
// It sends GET and nothing else of the user's: no cookies, no passwords, no Referer. Each address is put to Options.Admit before anything
// is asked of it, also those to which a page redirects, and Options.Dial decides which hosts and addresses are reached.
package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/hostname"
)

// Limits of one page.
const (
	MaxBody      = 5 << 20 // bytes, unpacked
	MaxRedirects = 5
	MaxURL       = 4096 // bytes
	maxHeader    = 64 << 10
	silence      = 30 * time.Second // until an answer begins
)

// Options says how pages are got. Dial is required.
type Options struct {
	// Dial connects to HOST:PORT, or returns why it does not.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Admit func(context.Context, *url.URL) error // nil admits all
	Agent string                                // the header User-Agent
	Roots *x509.CertPool                        // nil means those of the system
}

// Page is a page as a text.
type Page struct {
	URL  string // where it was, after redirects
	Type string // its media type, such as text/html
	Text string // UTF-8, without control characters; Markdown if the page was HTML
}

// Parse reads the address of a page. The host is in its one form, and the fragment is cut off.
func Parse(text string) (*url.URL, error) {
	if len(text) > MaxURL {
		return nil, fmt.Errorf("it has %d bytes, the limit is %d", len(text), MaxURL)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return nil, errors.New("it has a space, a backslash or a control character: write it in the form of a browser, such as https://example.com/a%20b")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not an address such as https://example.com/page")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Opaque != "":
		return nil, errors.New("it is not an address such as https://example.com/page: only https and http are read")
	case u.User != nil:
		return nil, errors.New("it has a user or a password, and none is sent: leave them out")
	}
	return u, canonical(u)
}

// canonical gives the host of an address its one form.
func canonical(u *url.URL) error {
	host, port := u.Host, ""
	if p := u.Port(); p != "" {
		host, port = strings.TrimSuffix(host, ":"+p), ":"+p
		if _, _, err := hostname.Split("host" + port); err != nil {
			return err
		}
	}
	name, err := hostname.Canonical(strings.TrimSuffix(host, ":"))
	if err != nil {
		return fmt.Errorf("host %.100q: %w", host, err)
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == map[string]string{"https": ":443", "http": ":80"}[u.Scheme] {
		port = ""
	}
	u.Host, u.Fragment, u.RawFragment = name+port, "", ""
	return nil
}

// Get returns a page. It follows at most MaxRedirects redirects, and none from https to http. The error says in a clause what was wrong,
// or is that of Admit or Dial.
func Get(ctx context.Context, u *url.URL, o *Options) (*Page, error) {
	tr := &http.Transport{DialContext: o.Dial, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: o.Roots}, TLSHandshakeTimeout: silence,
		ResponseHeaderTimeout: silence, MaxResponseHeaderBytes: maxHeader}
	defer tr.CloseIdleConnections()
	for hop := 0; ; hop++ {
		if o.Admit != nil {
			if err := o.Admit(ctx, u); err != nil {
				return nil, err
			}
		}
		answer, err := ask(ctx, tr, u, o)
		if err != nil {
			return nil, err
		}
		to := answer.Header.Get("Location")
		if to == "" || answer.StatusCode/100 != 3 {
			defer answer.Body.Close()
			return read(ctx, u, answer)
		}
		answer.Body.Close()
		if hop == MaxRedirects {
			return nil, fmt.Errorf("it redirects more than %d times, the last time to %.300q", MaxRedirects, to)
		}
		if u, err = redirected(u, to); err != nil {
			return nil, err
		}
	}
}

// ask sends the request for an address.
func ask(ctx context.Context, tr http.RoundTripper, u *url.URL, o *Options) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", o.Agent)
	r.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	return tr.RoundTrip(r)
}

// redirected returns where a redirect leads.
func redirected(from *url.URL, to string) (*url.URL, error) {
	next, err := from.Parse(to)
	if err != nil {
		return nil, fmt.Errorf("it redirects to %.300q, which is no address", to)
	}
	if next, err = Parse(next.String()); err != nil {
		return nil, fmt.Errorf("it redirects to %.300q: %w", to, err)
	}
	if from.Scheme == "https" && next.Scheme != "https" {
		return nil, fmt.Errorf("it redirects from https to %.300q, which is not encrypted: ask for that address if it is right", next)
	}
	return next, nil
}

// read returns the page of an answer.
func read(ctx context.Context, u *url.URL, answer *http.Response) (*Page, error) {
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d %s", u.Host, answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	kind, parameters, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if kind != "" && !isText(kind) {
		return nil, notText(kind)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > MaxBody:
		return nil, fmt.Errorf("it has more than %d MB: get it with a command that writes a file", MaxBody>>20)
	case kind == "":
		kind, parameters, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	text, err := asText(ctx, body, kind, parameters["charset"], u)
	return &Page{URL: u.String(), Type: kind, Text: text}, err
}
