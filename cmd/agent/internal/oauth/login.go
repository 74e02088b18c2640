package oauth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Options says how a user logs in. URL, Base and Show are required.
type Options struct {
	URL    string            // of the server
	Base   http.RoundTripper // carries all requests
	Header http.Header       // of requests to the server, such as a key that it wants besides

	ClientID, ClientSecret string // of a client that the user registered; "" for none
	Document               string // the https URL of a client ID metadata document; "" for none

	Port   int      // on this machine, to which the login comes back; 0 means any that is free
	Scopes []string // asked for besides those that the server names

	// Show shows a person the address at which they log in. It must not wait for that.
	Show func(ctx context.Context, address string) error
}

// ErrNoLogin is returned for a server that does not say where users log in.
var ErrNoLogin = errors.New("the server asks for no login")

// Token is a login at a server: what an authorization server gave, and what is needed to renew it.
type Token struct {
	Server   string `json:"server"` // the URL that it is sent to
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`

	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	Style        oauth2.AuthStyle `json:"auth_style,omitempty"`
	TokenURL     string           `json:"token_url"`
	RevokeURL    string           `json:"revoke_url,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`

	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token,omitempty"`
	Expiry  time.Time `json:"expiry,omitzero"`
}

// Login lets a person log in to a server, and returns the token. It ends when they have done so, or ctx is done.
func Login(ctx context.Context, o *Options) (*Token, error) {
	f := &flow{o: o, client: &http.Client{Transport: o.Base, Timeout: requestTime}}
	if err := f.discover(ctx); err != nil {
		return nil, err
	}
	at, err := listen(ctx, o.Port)
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := f.register(ctx, at.url); err != nil {
		return nil, err
	}
	code, verifier, err := f.ask(ctx, at)
	if err != nil {
		return nil, err
	}
	return f.exchange(ctx, code, verifier)
}

// requestTime bounds each request of a login.
const requestTime = 30 * time.Second

// flow is one login.
type flow struct {
	o        *Options
	client   *http.Client
	resource *oauthex.ProtectedResourceMetadata
	server   *oauthex.AuthServerMeta
	scopes   []string
	config   oauth2.Config
}

// discover finds out where users log in.
func (f *flow) discover(ctx context.Context) error {
	challenges, err := f.challenge(ctx)
	if err != nil {
		return err
	}
	for _, at := range metadataOf(f.o.URL, challenges) {
		if f.resource, err = oauthex.GetProtectedResourceMetadata(ctx, at.url, at.resource, f.client); err == nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f.resource == nil && len(challenges) == 0:
		return ErrNoLogin
	case f.resource == nil:
		return fmt.Errorf("the server does not say who authorizes its users: %w", err)
	case len(f.resource.AuthorizationServers) == 0:
		return errors.New("the server names no authorization server")
	}
	issuer := f.resource.AuthorizationServers[0]
	if f.server, err = auth.GetAuthServerMetadata(ctx, issuer, f.client); err != nil {
		return fmt.Errorf("the metadata of the authorization server: %w", err)
	}
	switch {
	case f.server == nil:
		return fmt.Errorf("the authorization server %s has no metadata", issuer)
	case !slices.Contains(f.server.CodeChallengeMethodsSupported, "S256"):
		return fmt.Errorf("the authorization server %s does not say that it knows PKCE with S256", issuer)
	case f.server.AuthorizationEndpoint == "" || f.server.TokenEndpoint == "":
		return fmt.Errorf("the authorization server %s does not say where it gives tokens", issuer)
	}
	f.scopes = f.scopesOf(challenges)
	return nil
}

// challenge asks the server for anything, and returns what it says of who may ask. There are no challenges if it just answers.
func (f *flow) challenge(ctx context.Context) ([]oauthex.Challenge, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.o.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	for name, values := range f.o.Header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	same := *f.client
	same.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := same.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be reached: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		return nil, nil
	}
	all, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, fmt.Errorf("the server's WWW-Authenticate: %w", err)
	}
	bearer := slices.DeleteFunc(all, func(c oauthex.Challenge) bool { return c.Scheme != "bearer" })
	return append(bearer, oauthex.Challenge{Scheme: "bearer"}), nil // one even where it names none
}

// place is where the metadata of a resource may be.
type place struct{ url, resource string }

// metadataOf returns the places of the metadata of a server: the one that it names, and those that are well known.
func metadataOf(server string, challenges []oauthex.Challenge) []place {
	var out []place
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			out = append(out, place{at, server})
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		return out
	}
	origin := url.URL{Scheme: u.Scheme, Host: u.Host}
	const known = "/.well-known/oauth-protected-resource"
	if path := strings.TrimLeft(u.Path, "/"); path != "" {
		out = append(out, place{origin.String() + known + "/" + path, server})
	}
	return append(out, place{origin.String() + known, origin.String()})
}

// scopesOf returns the scopes to ask for: those that the server named when it refused, else all that it has, and those of the options.
func (f *flow) scopesOf(challenges []oauthex.Challenge) []string {
	var out []string
	for _, c := range challenges {
		out = append(out, strings.Fields(c.Params["scope"])...)
	}
	if len(out) == 0 {
		out = append(out, f.resource.ScopesSupported...)
	}
	out = append(out, f.o.Scopes...)
	if slices.Contains(f.server.ScopesSupported, "offline_access") {
		out = append(out, "offline_access")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// register chooses the client: the one that the user registered, that of the document, or a new one.
func (f *flow) register(ctx context.Context, redirect string) error {
	c := &f.config
	c.RedirectURL, c.Scopes = redirect, f.scopes
	c.Endpoint = oauth2.Endpoint{AuthURL: f.server.AuthorizationEndpoint, TokenURL: f.server.TokenEndpoint, AuthStyle: oauth2.AuthStyleInParams}
	switch {
	case f.o.ClientID != "":
		c.ClientID, c.ClientSecret = f.o.ClientID, f.o.ClientSecret
		if methods := f.server.TokenEndpointAuthMethodsSupported; c.ClientSecret != "" && !slices.Contains(methods, "client_secret_post") {
			c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
		}
	case f.o.Document != "" && f.server.ClientIDMetadataDocumentSupported:
		c.ClientID = f.o.Document
	case f.server.RegistrationEndpoint != "":
		client := *f.client
		client.CheckRedirect = noRedirect
		got, err := oauthex.RegisterClient(ctx, f.server.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none", GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, ClientName: "agent-base", Scope: strings.Join(f.scopes, " "), ApplicationType: "native",
		}, &client)
		if err != nil {
			return fmt.Errorf("the authorization server does not register this program: %w", err)
		}
		c.ClientID, c.ClientSecret = got.ClientID, got.ClientSecret
		if got.TokenEndpointAuthMethod == "client_secret_basic" || got.TokenEndpointAuthMethod == "" && got.ClientSecret != "" {
			c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
		}
	default:
		return errors.New("the authorization server registers no programs by itself: register one there, and set its oauth.clientId")
	}
	return nil
}

var errRedirect = errors.New("it sends to another address, which gets no secrets")

func noRedirect(*http.Request, []*http.Request) error { return errRedirect }

// ask has the person log in, and returns the code.
func (f *flow) ask(ctx context.Context, at *listener) (code, verifier string, err error) {
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	at.expect(state)
	address := f.config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", f.resource.Resource))
	if err := f.o.Show(ctx, address); err != nil {
		return "", "", err
	}
	select {
	case <-ctx.Done():
		return "", "", ctx.Err()
	case answer := <-at.answers:
		return answer.Get("code"), verifier, f.check(answer)
	}
}

// check returns an error for an answer that is a refusal, or that of another authorization server.
func (f *flow) check(answer url.Values) error {
	iss, has := answer.Get("iss"), answer.Has("iss")
	switch {
	case has && iss != f.server.Issuer:
		return fmt.Errorf("the answer is that of another issuer, %q, and not of %q", iss, f.server.Issuer)
	case !has && f.server.AuthorizationResponseIssParameterSupported:
		return fmt.Errorf("the answer does not say that it is from %q", f.server.Issuer)
	case answer.Get("error") != "":
		return fmt.Errorf("the login was refused: %s", strings.TrimSpace(answer.Get("error")+" "+answer.Get("error_description")))
	case answer.Get("code") == "":
		return errors.New("the answer has no code")
	}
	return nil
}

// exchange gets the token for a code.
func (f *flow) exchange(ctx context.Context, code, verifier string) (*Token, error) {
	ctx = withClient(ctx, f.o.Base)
	got, err := f.config.Exchange(ctx, code, oauth2.VerifierOption(verifier), oauth2.SetAuthURLParam("resource", f.resource.Resource))
	if err != nil {
		return nil, fmt.Errorf("the authorization server gives no token: %w", plain(err))
	}
	t := &Token{Server: f.o.URL, Issuer: f.server.Issuer, Resource: f.resource.Resource, ClientID: f.config.ClientID, ClientSecret: f.config.ClientSecret,
		Style: f.config.Endpoint.AuthStyle, TokenURL: f.config.Endpoint.TokenURL, Scopes: f.scopes}
	if u, err := url.Parse(f.server.RevocationEndpoint); err == nil && (u.Scheme == "https" || u.Scheme == "http" && strings.HasPrefix(t.TokenURL, "http:")) {
		t.RevokeURL = u.String()
	}
	return t, t.take(got)
}

// take takes over what an authorization server gave.
func (t *Token) take(got *oauth2.Token) error {
	if !strings.EqualFold(cmp.Or(got.TokenType, "Bearer"), "Bearer") {
		return fmt.Errorf("the authorization server gives tokens of the type %q", got.TokenType)
	}
	if strings.ContainsFunc(got.AccessToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("the authorization server gives a token that no header can have")
	}
	t.Access, t.Refresh, t.Expiry = got.AccessToken, cmp.Or(got.RefreshToken, t.Refresh), got.Expiry
	if text, _ := got.Extra("scope").(string); text != "" {
		t.Scopes = strings.Fields(text)
	}
	return nil
}

// withClient has package oauth2 send by base, and follow nothing to another address.
func withClient(ctx context.Context, base http.RoundTripper) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: base, Timeout: requestTime, CheckRedirect: noRedirect})
}

// plain returns an error of package oauth2 without what else the server wrote.
func plain(err error) error {
	if r, ok := errors.AsType[*oauth2.RetrieveError](err); ok && r.ErrorCode != "" {
		return fmt.Errorf("%.100s %.300s", r.ErrorCode, r.ErrorDescription)
	} else if ok {
		return fmt.Errorf("it answers %s", r.Response.Status)
	}
	return err
}

// listener waits on this machine for the answer of an authorization server.
type listener struct {
	url     string
	answers chan url.Values
	state   chan string // has the one that is expected
	server  *http.Server
}

// callback is the path of the address on this machine.
const callback = "/callback"

func listen(ctx context.Context, port int) (*listener, error) {
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("the login has no address to come back to: %w", err)
	}
	l := &listener{url: "http://" + at.Addr().String() + callback, answers: make(chan url.Values, 1), state: make(chan string, 1)}
	l.server = &http.Server{Handler: http.HandlerFunc(l.answer), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10}
	go l.server.Serve(at) //nolint:errcheck // it ends by close
	return l, nil
}

func (l *listener) close() { _ = l.server.Close() }

func (l *listener) expect(state string) { l.state <- state }

// answer takes the one answer that has the state of this login. Another one, such as that of a page that guesses, changes nothing.
func (l *listener) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Connection", "close")
	if r.Method != http.MethodGet || r.URL.Path != callback {
		http.NotFound(w, r)
		return
	}
	q := r.URL.Query()
	select {
	case want := <-l.state:
		if q.Get("state") == want {
			io.WriteString(w, "agent has the answer. You can close this page.\n") //nolint:errcheck // the person sees whether it came
			l.answers <- q
			return
		}
		l.state <- want
	default:
	}
	http.Error(w, "This is not the answer to a login that is under way.", http.StatusBadRequest)
}

// ScopesIn returns the scopes that a WWW-Authenticate header names.
func ScopesIn(header string) (out []string) {
	all, _ := oauthex.ParseWWWAuthenticate([]string{header}) // what cannot be read names none
	for _, c := range all {
		out = append(out, strings.Fields(c.Params["scope"])...)
	}
	return out
}
