package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	// is not told to the client, but for ErrScope and ErrStranger.
	Verify func(ctx context.Context, token string) (*Caller, error)
	// OAuth says where clients get tokens; nil means that they must know.
	OAuth *OAuth
	// Refused is told why a request was refused, with one of the Refused… values; it may be nil.
	Refused func(r *http.Request, why string)
}

// Why a request was refused.
const (
	RefusedHost     = "host"     // the server has another name
	RefusedOrigin   = "origin"   // a web page sent it
	RefusedMethod   = "method"   // it is no POST
	RefusedToken    = "token"    // it has no token that holds
	RefusedScope    = "scope"    // its token has too little
	RefusedStranger = "stranger" // its caller is none of this server's
	RefusedBusy     = "busy"     // too many are under way
	RefusedBody     = "body"     // it is too long, or comes too slowly
	RefusedRevision = "revision" // it is of an unknown revision of the protocol
)

// Limits of a request.
const (
	maxBody     = 4 << 20
	bodyTime    = 30 * time.Second
	writeTime   = 30 * time.Second // for a client to take a piece of an answer
	writePiece  = 256 << 10        // bytes
	maxRequests = 4                // times Limits.Calls, that are under way at a time; half of them of one caller
)

// Handler returns a handler for streamable HTTP without sessions: each request stands alone, and any server with the same key answers it. The
// caller limits the time and size of headers.
func (s *Server) Handler(o *HTTPOptions) http.Handler {
	var h http.Handler = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server { return s.of(r.Context()).sdk }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true, // allowed says more
	})
	h = s.limited(o, versioned(o, h))
	if o.Verify != nil {
		h = o.identified(h)
	}
	return o.named(o.OAuth.published(o.allowed(h)))
}

// refuse answers a request that is refused.
func (o *HTTPOptions) refuse(w http.ResponseWriter, r *http.Request, code int, why, text string) {
	if o.Refused != nil {
		o.Refused(r, why)
	}
	http.Error(w, text, code)
}

// named refuses requests for a server of another name.
func (o *HTTPOptions) named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ourHost(r.Host, o.Hosts) {
			o.refuse(w, r, http.StatusForbidden, RefusedHost, "this server has another name")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowed refuses requests that a web page could have sent, and what is no call.
func (o *HTTPOptions) allowed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origins := r.Header.Values("Origin")
		switch {
		case len(origins) > 1 || len(origins) == 1 && !slices.Contains(o.Origins, origins[0]) && origins[0] != "http://"+r.Host && origins[0] != "https://"+r.Host:
			o.refuse(w, r, http.StatusForbidden, RefusedOrigin, "this origin is not allowed")
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			o.refuse(w, r, http.StatusMethodNotAllowed, RefusedMethod, "only POST is answered")
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
func versioned(o *HTTPOptions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known, asked := mcp.SupportedProtocolVersions(), r.Header.Get("Mcp-Protocol-Version")
		if asked == "" || slices.Contains(known, asked) {
			next.ServeHTTP(w, r)
			return
		}
		if o.Refused != nil {
			o.Refused(r, RefusedRevision)
		}
		id := idOf(r.Body)
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

// requests are those that are under way, by caller. The zero value has none.
type requests struct {
	mu  sync.Mutex
	all int
	of  map[string]int
}

// enter counts a request, unless most are under way, or half of that for its caller.
func (q *requests) enter(who string, most int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all >= most || q.of[who] >= max(1, most/2) {
		return false
	}
	if q.of == nil {
		q.of = map[string]int{}
	}
	q.all++
	q.of[who]++
	return true
}

func (q *requests) leave(who string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all--
	if q.of[who]--; q.of[who] == 0 {
		delete(q.of, who)
	}
}

// limited refuses requests while too many are under way at the server that answers them.
func (s *Server) limited(o *HTTPOptions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, who := s.of(r.Context()), subject(auth.TokenInfoFromContext(r.Context()))
		if !at.going.enter(who, maxRequests*at.o.Limits.Calls) {
			w.Header().Set("Retry-After", "1")
			o.refuse(w, r, http.StatusTooManyRequests, RefusedBusy, "too many requests are under way")
			return
		}
		defer at.going.leave(who)
		own := &impatient{w, http.NewResponseController(w), at.patience}
		defer own.wait() // what is left is sent when the handler is done
		w = own
		if code := readBody(w, r, bodyTime); code != 0 {
			o.refuse(w, r, code, RefusedBody, "the request is not read")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// impatient ends a request whose client does not take the answer.
type impatient struct {
	http.ResponseWriter
	c    *http.ResponseController
	most time.Duration // for each piece
}

// wait gives the client time from now on.
func (w *impatient) wait() { _ = w.c.SetWriteDeadline(time.Now().Add(w.most)) } // a connection has one

// Write writes in pieces.
func (w *impatient) Write(b []byte) (n int, err error) {
	for err == nil && n < len(b) {
		w.wait()
		var wrote int
		wrote, err = w.ResponseWriter.Write(b[n:min(n+writePiece, len(b))])
		n += wrote
	}
	return n, err
}

// FlushError sends what is written.
func (w *impatient) FlushError() error {
	w.wait()
	return w.c.Flush()
}

// Flush is FlushError.
func (w *impatient) Flush() { _ = w.FlushError() }

// Unwrap is for http.ResponseController.
func (w *impatient) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// readBody reads the body of a request, which may not be long and may not take long. It returns the status of a refusal, or 0.
func readBody(w http.ResponseWriter, r *http.Request, most time.Duration) int {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(most)) // a connection has one
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusRequestTimeout
	}
	_ = c.SetReadDeadline(time.Time{}) // the call may take longer
	r.Body = io.NopCloser(bytes.NewReader(b))
	return 0
}
