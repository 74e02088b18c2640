// Package wiretest holds tests that all model providers share: a server that records its requests, and checks of faults,
// cancellation, the environment and arbitrary bytes. A Provider describes the protocol of one provider; tests of one
// protocol only are in that provider's package.
//
// It is for tests only, and connects only to servers that it starts. A Server is safe for concurrent use.
package wiretest

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server gives every request the same answer and keeps what it was asked.
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []Asked
}

// Asked is one request.
type Asked struct {
	URL    string // path and query
	Header http.Header
	Body   string
}

// Serve starts a server that is closed at the end of the test.
func Serve(t testing.TB, answer http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, Asked{r.URL.String(), r.Header, string(body)})
		s.mu.Unlock()
		answer(w, r)
	}))
	s.Config.ErrorLog = log.New(t.Output(), "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// Asked returns the requests so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[:len(s.asked):len(s.asked)]
}

// Last returns the latest request.
func (s *Server) Last() Asked {
	all := s.Asked()
	return all[len(all)-1]
}

// SSE answers with a stream of events.
func SSE(text string) http.HandlerFunc {
	return Status(http.StatusOK, text, "Content-Type", "text/event-stream; charset=utf-8")
}

// Status answers with JSON, unless header, which is names and values by turns, says otherwise.
func Status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// Hang says nothing until the client goes away.
func Hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Stall sends a stream as far as text, and then nothing until the client goes away.
func Stall(text string) http.HandlerFunc { return after(text, Hang) }

// Broken sends a stream as far as text, and then breaks the connection.
func Broken(text string) http.HandlerFunc {
	return after(text, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// after sends a stream as far as text; then goes on.
func after(text string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		SSE(text)(w, r)
		w.(http.Flusher).Flush()
		then(w, r)
	}
}

// RoundTrip is a transport for a client that asks no server at all.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
