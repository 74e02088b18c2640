package mcpserve

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions says who may use a Server over HTTP.
type HTTPOptions struct {
	// Hosts are the names by which clients may address the server, without a port. localhost and the addresses of the loopback interface are
	// always among them. A request for another host is refused: a web page could have sent it.
	Hosts []string
	// Origins are the web pages whose scripts may call, such as "https://app.example.com", and those of the server itself. A request with
	// another Origin is refused.
	Origins []string
	// Verify returns who has a token. nil means that no token is asked for: then the listener must be one of the loopback interface. Its error
	// is not told to the client.
	Verify func(ctx context.Context, token string) (*Caller, error)
}

// Caller is who makes a call.
type Caller struct {
	Subject string    // its name, for the log and for handles; not ""
	Until   time.Time // when its token ends; the zero time means that the token does not end
}

// Limits of a request.
const (
	maxBody     = 4 << 20
	maxRequests = 4 // times Limits.Calls, that are under way at a time; half of them of one caller
)

// Handler returns a handler for streamable HTTP without sessions: each request stands alone, and any server with the same key answers it. The
// caller limits the time and size of headers.
func (s *Server) Handler(o *HTTPOptions) http.Handler {
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true, // allowed says more
	})
	h = s.limited(versioned(h))
	if o.Verify != nil {
		h = auth.RequireBearerToken(verifier(o.Verify), &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(h)
	}
	return allowed(o, h)
}

func verifier(verify func(context.Context, string) (*Caller, error)) auth.TokenVerifier {
	return func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		c, err := verify(ctx, token)
		if err != nil || c == nil || c.Subject == "" {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: c.Subject, Expiration: c.Until}, nil
	}
}

// allowed refuses requests that a web page could have sent, and what is no call.
func allowed(o *HTTPOptions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origins := r.Header.Values("Origin")
		switch {
		case !ourHost(r.Host, o.Hosts):
			http.Error(w, "this server has another name", http.StatusForbidden)
		case len(origins) > 1 || len(origins) == 1 && !slices.Contains(o.Origins, origins[0]) && origins[0] != "http://"+r.Host && origins[0] != "https://"+r.Host:
			http.Error(w, "this origin is not allowed", http.StatusForbidden)
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "only POST is answered", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ourHost reports whether a Host header names the server.
func ourHost(host string, names []string) bool {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host {
		return false
	}
	name := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return name == "localhost" || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// versioned refuses revisions of the protocol that nobody knows, with the ones that are known.
func versioned(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known, asked := mcp.SupportedProtocolVersions(), r.Header.Get("Mcp-Protocol-Version")
		if asked == "" || slices.Contains(known, asked) {
			next.ServeHTTP(w, r)
			return
		}
		id := idOf(http.MaxBytesReader(w, r.Body, maxBody))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
			"code": mcp.CodeUnsupportedProtocolVersion, "message": "unsupported protocol version", "data": map[string]any{"supported": known, "requested": cut(asked, 64)}}})
	})
}

// idOf returns the id of a request, which its answer has too; nil without one.
func idOf(body io.Reader) json.RawMessage {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	if json.NewDecoder(body).Decode(&request) != nil || !strings.ContainsAny(string(request.ID[:min(1, len(request.ID))]), `"-0123456789`) {
		return nil
	}
	return request.ID
}

// limited refuses requests while too many are under way.
func (s *Server) limited(next http.Handler) http.Handler {
	var mu sync.Mutex
	all, of := 0, map[string]int{}
	most := maxRequests * s.o.Limits.Calls
	enter := func(who string) bool {
		mu.Lock()
		defer mu.Unlock()
		if all >= most || of[who] >= max(1, most/2) {
			return false
		}
		all++
		of[who]++
		return true
	}
	leave := func(who string) {
		mu.Lock()
		defer mu.Unlock()
		all--
		if of[who]--; of[who] == 0 {
			delete(of, who)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := subject(auth.TokenInfoFromContext(r.Context()))
		if !enter(who) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests are under way", http.StatusTooManyRequests)
			return
		}
		defer leave(who)
		next.ServeHTTP(w, r)
	})
}

// subject returns whose token it is; "" without one.
func subject(t *auth.TokenInfo) string {
	if t == nil {
		return ""
	}
	return t.UserID
}
