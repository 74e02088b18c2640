package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/mcpserve"
)

// authority is an authorization server with keys.
type authority struct {
	url string

	mu      sync.Mutex
	down    bool
	another string // the issuer that its metadata name in place of it
	keys    []any
	asked   int // how often for the keys
}

const audience = "https://skills.example.com/mcp"

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	mux := http.NewServeMux()
	answer := func(path string, body func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if a.down {
				http.Error(w, "down", http.StatusBadGateway)
				return
			}
			_ = json.NewEncoder(w).Encode(body())
		})
	}
	answer("/.well-known/openid-configuration", func() any {
		if a.another != "" {
			return map[string]any{"issuer": a.another, "jwks_uri": a.url + "/keys"}
		}
		return map[string]any{"issuer": a.url, "jwks_uri": a.url + "/keys"}
	})
	answer("/keys", func() any {
		a.asked++
		return map[string]any{"keys": a.keys}
	})
	answer("/long", func() any { return strings.Repeat("x", maxKeys) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys", http.StatusFound) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

// key makes a key of the authority.
func (a *authority) key(t *testing.T, id string) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keys = append(a.keys, map[string]any{"kty": "a form that nobody knows"}, jose.JSONWebKey{Key: k.Public(), KeyID: id, Algorithm: "ES256", Use: "sig"})
	return k
}

// sign returns a token.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, id, kind string, claims map[string]any) string {
	t.Helper()
	o := (&jose.SignerOptions{}).WithType(jose.ContentType(kind))
	if id != "" {
		o = o.WithHeader("kid", id)
	}
	if kind == "" {
		delete(o.ExtraHeaders, jose.HeaderType)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign(b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// claims returns claims that hold, with changes; nil leaves one out.
func (a *authority) claims(now time.Time, change map[string]any) map[string]any {
	all := map[string]any{"iss": a.url, "aud": audience, "sub": "ada", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "scope": "skills:read skills:run"}
	for k, v := range change {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	return all
}

func (a *authority) issuer(t *testing.T, jwks string, now func() time.Time) *issuer {
	t.Helper()
	i, err := newIssuer(&config.Serve{Issuer: a.url, Audience: audience, Scopes: []string{"skills:run"}, JWKS: jwks}, http.DefaultTransport, now)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Only a token of the issuer, for this server, within its time, holds.
func TestAccessTokens(t *testing.T) {
	a := newAuthority(t)
	key, now := a.key(t, "one"), time.Now()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	secret := []byte(strings.Repeat("s", 32))
	a.keys = append(a.keys, jose.JSONWebKey{Key: secret, KeyID: "shared"}, jose.JSONWebKey{Key: weak.Public(), KeyID: "locks", Use: "enc"})
	i := a.issuer(t, "", func() time.Time { return now })
	plain := func(change map[string]any) string {
		return sign(t, jose.ES256, key, "one", "at+jwt", a.claims(now, change))
	}
	none := func() string {
		b, _ := json.Marshal(a.claims(now, nil))
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString(b) + "."
	}
	good := plain(nil)
	for name, tt := range map[string]struct{ token, want string }{
		"sound":                  {good, "oauth:ada"},
		"of two audiences":       {plain(map[string]any{"aud": []string{"https://other.example.com", audience}}), "oauth:ada"},
		"with scp":               {plain(map[string]any{"scope": nil, "scp": []string{"skills:run"}}), "oauth:ada"},
		"a JWT":                  {sign(t, jose.ES256, key, "one", "JWT", a.claims(now, nil)), "oauth:ada"},
		"without a kid":          {sign(t, jose.ES256, key, "", "", a.claims(now, nil)), "oauth:ada"},
		"just over":              {plain(map[string]any{"exp": now.Add(-leeway / 2).Unix()}), "oauth:ada"},
		"too little":             {plain(map[string]any{"scope": "skills:read skills:run2"}), "scope"},
		"of another audience":    {plain(map[string]any{"aud": audience + "/x"}), ""},
		"without an audience":    {plain(map[string]any{"aud": nil}), ""},
		"of another issuer":      {plain(map[string]any{"iss": a.url + "/"}), ""},
		"without an issuer":      {plain(map[string]any{"iss": nil}), ""},
		"over":                   {plain(map[string]any{"exp": now.Add(-2 * leeway).Unix()}), ""},
		"without an end":         {plain(map[string]any{"exp": nil}), ""},
		"not yet":                {plain(map[string]any{"nbf": now.Add(2 * leeway).Unix()}), ""},
		"without a subject":      {plain(map[string]any{"sub": nil}), ""},
		"a subject of two lines": {plain(map[string]any{"sub": "ada\nbob"}), ""},
		"a long subject":         {plain(map[string]any{"sub": strings.Repeat("a", maxSubject+1)}), ""},
		"an ID token":            {sign(t, jose.ES256, key, "one", "id+jwt", a.claims(now, nil)), ""},
		"of another key":         {sign(t, jose.ES256, other, "one", "at+jwt", a.claims(now, nil)), ""},
		"of a key for secrets":   {sign(t, jose.RS256, weak, "locks", "at+jwt", a.claims(now, nil)), ""},
		"of a shared key":        {sign(t, jose.HS256, secret, "shared", "at+jwt", a.claims(now, nil)), ""},
		"unsigned":               {none(), ""},
		"changed":                {good[:len(good)-4] + "AAAA", ""},
		"long":                   {good + strings.Repeat("A", maxAccess), ""},
		"no token":               {"a.b.c", ""},
	} {
		c, claims, err := i.verify(t.Context(), tt.token)
		switch {
		case tt.want == "scope":
			if !errors.Is(err, mcpserve.ErrScope) {
				t.Errorf("%s: got %v", name, err)
			}
		case tt.want == "":
			if err == nil {
				t.Errorf("a token holds that is %s", name)
			}
		case err != nil || c.Subject != tt.want || claims["sub"] != "ada" || c.Until.IsZero():
			t.Errorf("%s: got %+v, %v", name, c, err)
		}
	}
}

// The keys of an issuer are asked for seldom, follow a change, and do not hold for long without it.
func TestKeysOfIssuer(t *testing.T) {
	a := newAuthority(t)
	one, now := a.key(t, "one"), time.Now()
	i := a.issuer(t, "", func() time.Time { return now })
	holds := func(key *ecdsa.PrivateKey, id string) bool {
		_, _, err := i.verify(t.Context(), sign(t, jose.ES256, key, id, "at+jwt", a.claims(now, nil)))
		return err == nil
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel() // a client that goes away takes no keys from others
	if _, _, err := i.verify(gone, sign(t, jose.ES256, one, "one", "at+jwt", a.claims(now, nil))); err != nil {
		t.Error(err)
	}
	two := a.key(t, "two")
	for n := range 50 {
		if holds(two, fmt.Sprintf("unknown-%d", n)) || holds(two, "two") {
			t.Error("a key is known that was not asked for")
		}
	}
	if a.asked != 1 {
		t.Errorf("the keys were asked for %d times", a.asked)
	}
	if now = now.Add(perFetch + 1); !holds(two, "two") || !holds(one, "one") || a.asked != 2 {
		t.Errorf("after a change they were asked for %d times", a.asked)
	}
	a.keys = a.keys[2:]
	if now = now.Add(freshKeys + 1); holds(one, "one") || !holds(two, "two") {
		t.Error("a key holds that the issuer has taken back")
	}
	a.down = true
	if now = now.Add(staleKeys - 1); !holds(two, "two") {
		t.Error("the keys do not hold while the issuer is down")
	}
	if now = now.Add(perFetch + 2); holds(two, "two") {
		t.Error("the keys hold for ever")
	}
	a.down, a.another = false, "https://evil.example.com"
	if now = now.Add(perFetch + 1); holds(two, "two") {
		t.Error("metadata of another issuer were believed")
	}
	for _, path := range []string{"/long", "/away", "/none"} {
		i := a.issuer(t, a.url+path, func() time.Time { return now })
		if _, _, err := i.verify(t.Context(), sign(t, jose.ES256, two, "two", "", a.claims(now, nil))); err == nil {
			t.Errorf("the keys are from %s", path)
		}
	}
}

// Settings that are not whole, or name what others could answer, are refused.
func TestIssuerSettings(t *testing.T) {
	for name, c := range map[string]config.Serve{
		"no issuer":         {Audience: audience},
		"scopes alone":      {Scopes: []string{"x"}},
		"no audience":       {Issuer: "https://login.example.com"},
		"http":              {Issuer: "http://login.example.com", Audience: audience},
		"a local look":      {Issuer: "http://localhost.example.com", Audience: audience},
		"keys by http":      {Issuer: "https://login.example.com", Audience: audience, JWKS: "http://login.example.com/keys"},
		"a password":        {Issuer: "https://a:b@login.example.com", Audience: audience},
		"a query":           {Issuer: "https://login.example.com?x=1", Audience: audience},
		"an audience alone": {Issuer: "https://login.example.com", Audience: "skills"},
	} {
		if _, err := newIssuer(&c, nil, time.Now); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if i, err := newIssuer(&config.Serve{}, nil, time.Now); i != nil || err != nil {
		t.Errorf("without settings: %v, %v", i, err)
	}
}
