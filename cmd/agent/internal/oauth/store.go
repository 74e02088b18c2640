package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Store keeps tokens in a file. Path and Base are required.
type Store struct {
	Path string            // absolute; the file has mode 0600
	Base http.RoundTripper // carries requests to authorization servers
	Now  func() time.Time  // nil means time.Now
}

const (
	maxTokens   = 1 << 20          // bytes of the file
	early       = 30 * time.Second // before it expires a token is renewed
	refreshWait = time.Minute      // for another process that renews a token
)

// stored is the content of the file.
type stored struct {
	Version int      `json:"version"`
	Tokens  []*Token `json:"tokens"`
}

// Of returns the token for a server, by the URL of that; nil if there is none.
func (s *Store) Of(server string) (*Token, error) {
	b, err := s.file().Read()
	if err != nil {
		return nil, err
	}
	all, err := s.parse(b)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all.Tokens, func(t *Token) bool { return t.Server == server }); i >= 0 {
		return all.Tokens[i], nil
	}
	return nil, nil
}

func (s *Store) file() *lockfile.File {
	return &lockfile.File{Path: s.Path, Max: maxTokens, Private: true}
}

func (s *Store) parse(b []byte) (*stored, error) {
	all := &stored{Version: 1}
	if b == nil {
		return all, nil
	}
	if err := json.Unmarshal(b, all); err != nil || all.Version != 1 {
		return nil, fmt.Errorf("%s cannot be read: remove it, and log in again", s.Path)
	}
	return all, nil
}

// Put stores a token, in place of one for its issuer and resource, and of one for its server.
func (s *Store) Put(ctx context.Context, t *Token) error {
	return s.change(ctx, func(all []*Token) []*Token {
		return append(slices.DeleteFunc(all, func(o *Token) bool {
			return o.Server == t.Server || o.Issuer == t.Issuer && o.Resource == t.Resource
		}), t)
	})
}

// Remove removes the token for a server.
func (s *Store) Remove(ctx context.Context, server string) error {
	return s.change(ctx, func(all []*Token) []*Token {
		return slices.DeleteFunc(all, func(t *Token) bool { return t.Server == server })
	})
}

func (s *Store) change(ctx context.Context, edit func([]*Token) []*Token) error {
	return s.file().Edit(ctx, func(old []byte) ([]byte, error) {
		all, err := s.parse(old)
		if err != nil {
			return nil, err
		}
		all.Tokens = edit(all.Tokens)
		b, err := json.MarshalIndent(all, "", "  ")
		return append(b, '\n'), err
	})
}

// Fresh returns the token for a server, renewed if it expires soon or is the one that the server refused; refused may be "". It is nil if there
// is none. The error is a *ExpiredError if it cannot be renewed.
func (s *Store) Fresh(ctx context.Context, server, refused string) (*Token, error) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	good := func(t *Token) bool {
		return t == nil || t.Access != refused && (t.Expiry.IsZero() || now().Add(early).Before(t.Expiry))
	}
	t, err := s.Of(server)
	if err != nil || good(t) {
		return t, err
	}
	unlock, err := lockfile.Lock(ctx, s.Path+".renewal", refreshWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if t, err = s.Of(server); err != nil || good(t) { // another process did it
		return t, err
	}
	if err := s.renew(ctx, t); err != nil {
		return nil, err
	}
	return t, s.Put(ctx, t)
}

// ExpiredError says that a token is used up.
type ExpiredError struct{ Err error }

// Error says why it cannot be renewed.
func (e *ExpiredError) Error() string {
	if e.Err == nil {
		return "the login has expired"
	}
	return "the login has expired, and cannot be renewed: " + e.Err.Error()
}

// Unwrap returns why it cannot be renewed; it may be nil.
func (e *ExpiredError) Unwrap() error { return e.Err }

// renew gets another token by the refresh token.
func (s *Store) renew(ctx context.Context, t *Token) error {
	if t.Refresh == "" {
		return &ExpiredError{}
	}
	c := oauth2.Config{ClientID: t.ClientID, ClientSecret: t.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: t.TokenURL, AuthStyle: t.Style}}
	ctx = withClient(ctx, &forResource{s.Base, t.Resource})
	got, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: t.Refresh}).Token()
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &ExpiredError{plain(err)}
	}
	return t.take(got)
}

// forResource adds the resource that a token is for to requests for it, which package oauth2 does not do when it renews one.
type forResource struct {
	base     http.RoundTripper
	resource string
}

// RoundTrip carries a request.
func (f *forResource) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	form := r.PostForm
	form.Set("resource", f.resource)
	body := form.Encode()
	out := r.Clone(r.Context())
	out.Body, out.ContentLength, out.GetBody = io.NopCloser(strings.NewReader(body)), int64(len(body)), nil
	return f.base.RoundTrip(out)
}

// Revoke tells the authorization server that a token is not used any more. It reports whether the server offers that.
func (s *Store) Revoke(ctx context.Context, t *Token) (offered bool, err error) {
	if t.RevokeURL == "" {
		return false, nil
	}
	token, hint := t.Refresh, "refresh_token"
	if token == "" {
		token, hint = t.Access, "access_token"
	}
	form := url.Values{"token": {token}, "token_type_hint": {hint}}
	if t.Style == oauth2.AuthStyleInParams {
		form.Set("client_id", t.ClientID)
		if t.ClientSecret != "" {
			form.Set("client_secret", t.ClientSecret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return true, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if t.Style == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(t.ClientID), url.QueryEscape(t.ClientSecret))
	}
	client := &http.Client{Transport: s.Base, Timeout: requestTime, CheckRedirect: noRedirect}
	res, err := client.Do(req)
	if err != nil {
		return true, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return true, fmt.Errorf("the authorization server answers %s", res.Status)
	}
	return true, nil
}
