// Package fakemodel is a model server for tests. It speaks four protocols, called wires (Anthropic Messages, OpenAI
// Responses, Chat Completions, Gemini), streaming and not, and gives the answers of a script.
//
// It is a strict referee: a request that a vendor would reject gets the 400 of its wire and fails the test. It keeps
// each request, as bytes and as one neutral view, for a test to see what a model was shown. It contains no model, needs
// no key and reads at most 32 MiB of a request.
//
// The package is for tests only. A Server is safe for concurrent use.
package fakemodel

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	maxBody     = 32 << 20
	maxRequests = 10_000
)

// Server is a running model server on this machine.
type Server struct {
	URL string // scheme, host and port, without a path

	http    *httptest.Server
	closing chan struct{}
	once    sync.Once

	mu       sync.Mutex
	steps    []Step
	taken    int // requests that got a step
	requests []*Request
	problems []error
	given    map[string]string // by call ID: the signature that was sent with the call
}

// New starts a server that answers with the steps in order, one for each request, and closes it at the end of the test.
// An invalid request, or one after the last step, fails the test.
func New(t testing.TB, steps ...Step) *Server {
	t.Helper()
	s := Start(steps...)
	t.Cleanup(func() {
		s.Close()
		for _, err := range s.Problems() {
			t.Errorf("fake model: %v", err)
		}
	})
	return s
}

// Start is like New, without a test. The caller must call Close and check Problems.
func Start(steps ...Step) *Server {
	s := &Server{steps: slices.Clone(steps), closing: make(chan struct{}), given: map[string]string{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close stops the server and every hanging answer. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closing)
		s.http.Close()
	})
}

// Env returns the variables, as NAME=value, that point a program to this server instead of the vendors, and set the keys.
func (s *Server) Env() []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=fake",
		"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=fake",
		"GOOGLE_GEMINI_BASE_URL=" + s.URL, "GEMINI_API_KEY=fake",
	}
}

// Requests returns the requests so far in the order of arrival, including refused ones. The caller must not modify them.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Problems returns the faults of the requests so far.
func (s *Server) Problems() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// SetSteps gives the server a new script, which starts with the next request.
func (s *Server) SetSteps(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.taken = slices.Clone(steps), 0
}

// ServeHTTP answers one request. A caller can use it in a server of its own that inspects requests first.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		writeModels(w, r.URL.Path)
		return
	}
	p, ok := protocolOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		s.problem(fmt.Errorf("%s %s is not the address of a model", r.Method, r.URL.Path))
		http.Error(w, `{"error":{"message":"not found"}}`, http.StatusNotFound)
		return
	}
	q := &Request{Wire: p.wire, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone()}
	step, n, err := s.accept(p, q, http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeFailure(w, p, &Step{Status: statusOf(err), Message: err.Error()})
		return
	}
	for step.From != nil {
		step = step.From(q)
	}
	s.answer(w, r, p, newAnswer(step, q, n))
}

// accept reads, checks and keeps a request, and returns the step that answers it.
func (s *Server) accept(p protocol, q *Request, body io.Reader) (step Step, number int, err error) {
	q.Body, err = io.ReadAll(body)
	if err == nil {
		err = p.read(q)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.judge(q)
	}
	q.Number = len(s.requests)
	if len(s.requests) < maxRequests {
		s.requests = append(s.requests, q)
	}
	if err == nil {
		step, err = s.take()
	}
	if err != nil {
		q.Refused = err.Error()
		s.problems = append(s.problems, fmt.Errorf("request %d (%s): %w", q.Number, q.Wire, err))
	}
	return step, q.Number, err
}

func (s *Server) take() (Step, error) {
	if s.taken >= len(s.steps) {
		if n := len(s.steps); n > 0 && s.steps[n-1].Forever {
			return s.steps[n-1], nil
		}
		return Step{}, &refusal{http.StatusBadRequest, fmt.Sprintf("request after the last of %d steps", len(s.steps))}
	}
	s.taken++
	return s.steps[s.taken-1], nil
}

func (s *Server) problem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err)
}

// refusal is the error of a refused request, with its HTTP status.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}
