package servers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/oauth"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/mcphost"
)

// identified carries the requests to one server, with what identifies the user there. Nothing of that goes to another address.
type identified struct {
	base   http.RoundTripper
	label  string
	server *url.URL
	header http.Header
	tokens *oauth.Store // nil without a home
}

// client returns what reaches a server.
func (m *Servers) client(s *filledServer) *http.Client {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil // NewHost refuses it
	}
	return &http.Client{Transport: &identified{base: m.Settings.Within(models.Transport(m.Sys.First)), label: s.Label, server: u, header: s.header(), tokens: m.Logins(s.URL)}}
}

// header returns the headers of a server's entry.
func (s *filledServer) header() http.Header {
	out := http.Header{}
	for name, value := range s.Headers {
		out.Set(name, value)
	}
	return out
}

// Logins returns where logins at servers are kept, nil without a home.
func (m *Servers) Logins(server string) *oauth.Store {
	state := m.Settings.Config().Paths.State()
	if state == "" {
		return nil
	}
	return &oauth.Store{Path: filepath.Join(state, "mcp", "logins.json"), Base: m.discovery(server), Now: m.Sys.Now}
}

// discovery returns what reaches the addresses that a server names. They are public ones, unless the server itself is not.
func (m *Servers) discovery(server string) http.RoundTripper {
	t := models.Transport(m.Sys.First)
	if u, err := url.Parse(server); err != nil || !hostname.IsLocal(strings.ToLower(u.Hostname())) {
		t.DialContext = nil // then the library checks the address
	}
	return m.Settings.Within(t)
}

// RoundTrip carries a request. The error is a *mcphost.ServerError if the server wants a login.
func (c *identified) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != c.server.Scheme || r.URL.Host != c.server.Host {
		return c.base.RoundTrip(r)
	}
	res, used, err := c.send(r, "")
	if err != nil || res.StatusCode != http.StatusUnauthorized || used == "" || r.Body != nil && r.GetBody == nil {
		return c.judged(res, err)
	}
	res.Body.Close()
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	res, _, err = c.send(again, used)
	return c.judged(res, err)
}

// send sends a request with a token, if there is one, which is not the one that was refused.
func (c *identified) send(r *http.Request, refused string) (*http.Response, string, error) {
	out, used := r.Clone(r.Context()), ""
	for name, values := range c.header {
		out.Header[name] = slices.Clone(values)
	}
	if c.tokens != nil && c.header.Get("Authorization") == "" {
		t, err := c.tokens.Fresh(r.Context(), c.server.String(), refused)
		if err != nil {
			return nil, "", c.login(err)
		}
		if t != nil {
			out.Header.Set("Authorization", "Bearer "+t.Access)
			used = t.Access
		}
	}
	res, err := c.base.RoundTrip(out)
	return res, used, err
}

// judged returns an error in place of an answer that asks for a login.
func (c *identified) judged(res *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	challenge := res.Header.Get("WWW-Authenticate")
	switch {
	case res.StatusCode == http.StatusUnauthorized && c.header.Get("Authorization") != "":
		err = c.fault("it does not take the header Authorization of its entry")
	case res.StatusCode == http.StatusUnauthorized:
		err = c.fault("it wants to know who you are: " + cure.LoginServer(c.label))
	case res.StatusCode == http.StatusForbidden && strings.Contains(challenge, "insufficient_scope"):
		err = c.fault("the login does not reach for this: " + cure.LoginServer(c.label, oauth.ScopesIn(challenge)...))
	default:
		return res, nil
	}
	res.Body.Close()
	return nil, err
}

func (c *identified) login(err error) error {
	if errors.As(err, new(*oauth.ExpiredError)) {
		return c.fault(err.Error() + ": " + cure.LoginServer(c.label))
	}
	return err
}

func (c *identified) fault(text string) error {
	return &mcphost.ServerError{Label: c.label, Kind: mcphost.KindLogin, Message: text}
}

// LoginAt returns the issuer of the login at a server, "" if there is none, or none is known.
func (m *Servers) LoginAt(e *Entry) string {
	if e.URL == "" || !e.State.Starts() {
		return ""
	}
	s, tokens, err := m.forLogin(e)
	if err != nil {
		return ""
	}
	t, err := tokens.Of(s.URL)
	if err != nil || t == nil {
		return ""
	}
	return t.Issuer
}

// LoginOptions says how a person logs in to a server.
type LoginOptions struct {
	Scopes []string
	Show   func(ctx context.Context, address string) error
}

// Login lets a person log in to a server, and stores that.
func (m *Servers) Login(ctx context.Context, e *Entry, o *LoginOptions) (*oauth.Token, error) {
	s, tokens, err := m.forLogin(e)
	if err != nil {
		return nil, err
	}
	before, err := tokens.Of(s.URL)
	if err != nil {
		return nil, err
	}
	with := &oauth.Options{URL: s.URL, Base: tokens.Base, Header: s.header(), Scopes: slices.Clone(o.Scopes), Show: o.Show}
	if before != nil && len(o.Scopes) > 0 {
		with.Scopes = append(with.Scopes, before.Scopes...) // what it had stays
	}
	if c := s.OAuth; c != nil {
		with.ClientID, with.ClientSecret, with.Port = c.ClientID, c.ClientSecret, int(c.CallbackPort)
		with.Scopes = append(with.Scopes, c.Scopes...)
	}
	t, err := oauth.Login(ctx, with)
	if err != nil {
		return nil, err
	}
	return t, tokens.Put(ctx, t)
}

// Logout forgets the login at a server, and tells the authorization server. It returns nil if there was none, and reports whether that
// server took the token back; the error of that is one of the network.
func (m *Servers) Logout(ctx context.Context, e *Entry) (t *oauth.Token, revoked bool, err error) {
	s, tokens, err := m.forLogin(e)
	if err != nil {
		return nil, false, err
	}
	if t, err = tokens.Of(s.URL); err != nil || t == nil {
		return nil, false, err
	}
	if err := tokens.Remove(ctx, s.URL); err != nil {
		return nil, false, err
	}
	revoked, err = tokens.Revoke(ctx, t)
	return t, revoked && err == nil, err
}

func (m *Servers) forLogin(e *Entry) (*filledServer, *oauth.Store, error) {
	if e.URL == "" {
		return nil, nil, failure.Usage(fmt.Errorf("server %q is a program on this machine, and needs no login", e.Label), "set the variables that it reads: agent mcp add --help")
	}
	if !e.State.Starts() {
		return nil, nil, failure.Denied(fmt.Errorf("the server %q of the project is not approved", e.Label), cure.TrustServer(e.Label))
	}
	if err := m.Settings.NeedRoom(""); err != nil {
		return nil, nil, err
	}
	s, err := m.fill(e)
	if err != nil {
		return nil, nil, err
	}
	return s, m.Logins(s.URL), nil
}
