// Package kalshi imitates the public part of the Kalshi API for tests of the kalshi-markets skill: a dozen invented
// markets with the paths, envelopes, filters, paging and error bodies of the real service, in both of its formats.
//
// It refuses what the service refuses: limits out of range, unknown states and cursors (400), unknown tickers and paths
// (404), methods other than GET (405). It has no accounts and no orders. A Server is safe for concurrent use.
package kalshi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Prefix is the path prefix of the service. A Server accepts requests with and without it.
const Prefix = "/trade-api/v2"

// Era is the format of numbers in an answer.
type Era int

// Today's answers have dollars and counts as strings ("yes_bid_dollars": "0.4200", "volume_fp": "19920.00"). Until March
// 2026 they also had integers: cents and contracts ("yes_bid": 42).
const (
	Today Era = iota
	Legacy
)

// String returns "today" or "legacy".
func (e Era) String() string {
	if e == Legacy {
		return "legacy"
	}
	return "today"
}

// Options configure a Server. The zero value is a healthy exchange of today.
type Options struct {
	Era      Era
	Halted   bool // trading is inactive; the status is then sent with code 503
	PageSize int  // maximum items of a page, whatever the request asks for; 0 means no maximum
	Extra    int  // open events added to the fixtures, KXEXTRA-0 and so on, with one market each

	// Fail makes request n fail, counted from 0. It returns nil for an ordinary answer.
	Fail func(n int, r Request) *Failure
	// Rewrite replaces an answer before it is sent. It gets a tree of map[string]any, []any, strings, numbers and
	// booleans, and may modify it.
	Rewrite func(answer any) any
}

// Request is one received request.
type Request struct {
	Path  string // without Prefix
	Query url.Values
	Agent string // User-Agent
}

// Failure replaces the ordinary answer.
type Failure struct {
	Status     int
	RetryAfter string // header, omitted if empty
	Body       string // if empty, an error of the API in JSON
}

// Server answers like the service. Create one with NewServer.
type Server struct {
	o     Options
	world world

	mu       sync.Mutex
	requests []Request
}

// NewServer returns a handler; nil options mean the zero value.
func NewServer(o *Options) *Server {
	if o == nil {
		o = &Options{}
	}
	return &Server{o: *o, world: newWorld(o.Extra)}
}

// Start serves on a free port of this machine. It returns the base address for KALSHI_API_BASE and a function that
// stops the server.
func (s *Server) Start() (base string, stop func()) {
	server := httptest.NewServer(s)
	return server.URL + Prefix, server.Close
}

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := Request{strings.TrimPrefix(r.URL.Path, Prefix), r.URL.Query(), r.UserAgent()}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, asked)
	s.mu.Unlock()

	if r.Method != http.MethodGet {
		s.send(w, http.StatusMethodNotAllowed, s.problem("method_not_allowed", r.Method))
		return
	}
	if s.o.Fail != nil {
		if f := s.o.Fail(n, asked); f != nil {
			s.fail(w, f)
			return
		}
	}
	status, answer := s.answer(asked)
	s.send(w, status, answer)
}

func (s *Server) fail(w http.ResponseWriter, f *Failure) {
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Body != "" {
		w.WriteHeader(f.Status)
		w.Write([]byte(f.Body)) // a client that disconnected is ignored
		return
	}
	code := strings.ReplaceAll(strings.ToLower(http.StatusText(f.Status)), " ", "_")
	s.send(w, f.Status, s.problem(code, http.StatusText(f.Status)))
}

// problem returns the body of an error: flat today, inside "error" in the legacy format.
func (s *Server) problem(code, message string) object {
	body := object{"code": code, "message": message}
	if s.o.Era == Legacy {
		return object{"error": body}
	}
	body["details"], body["service"] = "", "exchange"
	return body
}

func (s *Server) send(w http.ResponseWriter, status int, answer any) {
	body, err := json.Marshal(answer)
	if err == nil && s.o.Rewrite != nil {
		var tree any
		if err = json.Unmarshal(body, &tree); err == nil {
			body, err = json.Marshal(s.o.Rewrite(tree))
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) // a client that disconnected is ignored
}
