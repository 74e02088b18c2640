package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/mcpserve"
)

// oauthName begins the names of callers with a token of an authorization server. No name of a file of tokens begins so.
const oauthName = "oauth:"

// Limits of a token.
const (
	maxAccess  = 16 << 10        // bytes
	maxSubject = 256             // bytes
	leeway     = 1 * time.Minute // between the clocks
)

// signatures are the algorithms by which a token may be signed: with a public key each.
var signatures = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// issuer checks the access tokens of an authorization server.
type issuer struct {
	name, audience string
	scopes         []string
	keys           *keys
	now            func() time.Time
}

// newIssuer returns what checks tokens as the settings say; nil where they name no server.
func newIssuer(c *config.Serve, transport http.RoundTripper, now func() time.Time) (*issuer, error) {
	if c.Issuer == "" {
		if c.Audience+c.JWKS != "" || len(c.Scopes) > 0 {
			return nil, errors.New("serve.audience, serve.scopes and serve.jwks need serve.issuer")
		}
		return nil, nil
	}
	for _, one := range []struct{ key, address string }{{"issuer", c.Issuer}, {"audience", c.Audience}, {"jwks", c.JWKS}} {
		if one.address == "" && one.key == "jwks" {
			continue
		}
		if err := safe(one.address); err != nil {
			return nil, fmt.Errorf("serve.%s: %w", one.key, err)
		}
	}
	return &issuer{c.Issuer, c.Audience, c.Scopes, &keys{issuer: c.Issuer, at: c.JWKS, now: now, client: &http.Client{Transport: transport, Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, now}, nil
}

// safe refuses an address that others could answer.
func safe(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()+":0")) {
		return fmt.Errorf("%q is no address of https: write https://HOST/PATH", address)
	}
	return nil
}

// metadata says where clients get tokens.
func (i *issuer) metadata() *mcpserve.OAuth {
	return &mcpserve.OAuth{Resource: i.audience, Issuers: []string{i.name}, Scopes: i.scopes}
}

// verify returns the claims of a token that holds, and who has it.
func (i *issuer) verify(ctx context.Context, token string) (*mcpserve.Caller, map[string]any, error) {
	if len(token) > maxAccess {
		return nil, nil, errors.New("the token is too long")
	}
	t, err := jwt.ParseSigned(token, signatures)
	if err != nil {
		return nil, nil, err
	}
	if len(t.Headers) != 1 || !accessType(t.Headers[0].ExtraHeaders[jose.HeaderType]) {
		return nil, nil, errors.New("it is no access token")
	}
	var claims jwt.Claims
	var all map[string]any
	if err := i.signed(ctx, t, &claims, &all); err != nil {
		return nil, nil, err
	}
	if err := claims.ValidateWithLeeway(jwt.Expected{Issuer: i.name, AnyAudience: jwt.Audience{i.audience}, Time: i.now()}, leeway); err != nil {
		return nil, nil, err
	}
	sub := claims.Subject
	if claims.Expiry == nil || sub == "" || len(sub) > maxSubject || strings.ContainsFunc(sub, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return nil, nil, errors.New("the token has no end, or no name")
	}
	given := scopesOf(all)
	for _, scope := range i.scopes {
		if !slices.Contains(given, scope) {
			return nil, nil, mcpserve.ErrScope
		}
	}
	return &mcpserve.Caller{Subject: oauthName + sub, Until: claims.Expiry.Time().Add(leeway)}, all, nil
}

// signed reads the claims of a token, if one of the issuer's keys signed it.
func (i *issuer) signed(ctx context.Context, t *jwt.JSONWebToken, into ...any) error {
	h := t.Headers[0]
	found, err := i.keys.find(ctx, h.KeyID)
	if err != nil {
		return err
	}
	err = errors.New("no key of the issuer is that of the token")
	for _, k := range found {
		if k.Algorithm != "" && k.Algorithm != h.Algorithm {
			continue
		}
		if err = t.Claims(k.Key, into...); err == nil {
			return nil
		}
	}
	return err
}

// accessType reports whether the type of a token is one of access tokens: RFC 9068 has at+jwt, and many servers write JWT or nothing.
func accessType(v any) bool {
	text, ok := v.(string)
	return v == nil || ok && slices.Contains([]string{"jwt", "at+jwt", "application/at+jwt"}, strings.ToLower(text))
}

// scopesOf returns the scopes that a token has: in scope, or as some servers have it in scp.
func scopesOf(claims map[string]any) []string {
	return append(texts(claims["scope"]), texts(claims["scp"])...)
}

// texts returns the texts of a claim: a list, or words.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}
