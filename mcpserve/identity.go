package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Caller is who makes a call.
type Caller struct {
	Subject string    // its name, for the log and for handles; not ""
	Until   time.Time // when its token ends; the zero time means that the token does not end
	Server  *Server   // that of the caller's tenant, which answers in place of the one with the handler; nil means that one
	Done    func()    // is called when the request has ended; it may be nil
}

// Errors of HTTPOptions.Verify for tokens that hold. All others mean that the token does not.
var (
	ErrScope    = errors.New("the token has too few scopes")
	ErrStranger = errors.New("the caller is none of this server's")
)

// OAuth says where clients get tokens, as RFC 9728 has it.
type OAuth struct {
	Resource string   // the address of this server, which tokens are for: absolute, without a query and a fragment
	Issuers  []string // the authorization servers
	Scopes   []string // that a token needs
}

// wellKnown is where the metadata of a server are, before its own path.
const wellKnown = "/.well-known/oauth-protected-resource"

// metadata returns the address of the metadata and its path.
func (a *OAuth) metadata() (address, path string) {
	u, err := url.Parse(a.Resource)
	if err != nil {
		return "", ""
	}
	path = wellKnown + strings.TrimSuffix(u.Path, "/")
	return u.Scheme + "://" + u.Host + path, path
}

// published answers requests for the metadata. Everybody may read them.
func (a *OAuth) published(next http.Handler) http.Handler {
	if a == nil {
		return next
	}
	_, path := a.metadata()
	about := auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{Resource: a.Resource, AuthorizationServers: a.Issuers,
		ScopesSupported: a.Scopes, BearerMethodsSupported: []string{"header"}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path != "" && r.URL.Path == path {
			about.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// challenge tells a client why its token does not do, and where to get another one.
func (a *OAuth) challenge(w http.ResponseWriter, failure string) {
	var all []string
	if failure != "" {
		all = append(all, fmt.Sprintf("error=%q", failure))
	}
	if a != nil {
		address, _ := a.metadata()
		all = append(all, fmt.Sprintf("resource_metadata=%q", address))
		if len(a.Scopes) > 0 {
			all = append(all, fmt.Sprintf("scope=%q", strings.Join(a.Scopes, " ")))
		}
	}
	w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(all, ", ")))
}

type callerKey struct{}

// identified refuses requests without a token that holds, and says to next who has it.
func (o *HTTPOptions) identified(next http.Handler) http.Handler {
	next = auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c := ctx.Value(callerKey{}).(*Caller)
		return &auth.TokenInfo{UserID: c.Subject, Expiration: c.Until}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := r.Header.Values("Authorization")
		scheme, token, _ := strings.Cut(strings.Join(all, ","), " ")
		if len(all) != 1 || !strings.EqualFold(scheme, "Bearer") || len(strings.Fields(token)) != 1 {
			o.OAuth.challenge(w, "")
			o.refuse(w, r, http.StatusUnauthorized, RefusedToken, "a bearer token is needed")
			return
		}
		c, err := o.Verify(r.Context(), strings.TrimSpace(token))
		if c != nil && c.Done != nil {
			defer c.Done()
		}
		switch {
		case errors.Is(err, ErrScope):
			o.OAuth.challenge(w, "insufficient_scope")
			o.refuse(w, r, http.StatusForbidden, RefusedScope, ErrScope.Error())
		case errors.Is(err, ErrStranger):
			o.refuse(w, r, http.StatusForbidden, RefusedStranger, ErrStranger.Error())
		case err != nil || c == nil || c.Subject == "" || !c.Until.IsZero() && !c.Until.After(time.Now()):
			o.OAuth.challenge(w, "invalid_token")
			o.refuse(w, r, http.StatusUnauthorized, RefusedToken, "the token does not hold")
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
		}
	})
}

// of returns the server that answers a request: that of its caller's tenant, or s.
func (s *Server) of(ctx context.Context) *Server {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok && c.Server != nil {
		return c.Server
	}
	return s
}

// subject returns whose token it is; "" without one.
func subject(t *auth.TokenInfo) string {
	if t == nil {
		return ""
	}
	return t.UserID
}
