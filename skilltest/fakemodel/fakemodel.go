// Package fakemodel is a model server for tests. It speaks the four wires of the vendors (Anthropic Messages, OpenAI
// Responses, Chat Completions, Gemini), streaming and not, and answers what a script says.
//
// It is a strict referee: a request that a vendor would turn away gets the 400 of its wire, and fails the test. It
// keeps each request, as bytes and as one neutral view, so that a test can look at what a model was shown. It knows
// no model, needs no key and reads no more than 32 MiB of a request.
//
// The package is for tests alone. A Server is safe for concurrent use.
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
	given    map[string]string // by ID of a call: the signature that came with it
}

// New starts a server that answers with the steps in their order, one for each request, and ends it with the test. A
// request that no wire allows, or that comes after the last step, fails the test.
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

// Start is New without a test: whoever calls it calls Close, and asks Problems.
func Start(steps ...Step) *Server {
	s := &Server{steps: slices.Clone(steps), closing: make(chan struct{}), given: map[string]string{}}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every answer that hangs. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.closing)
		s.http.Close()
	})
}

// Env returns the variables, as NAME=value, that send a program to this server instead of the vendors, each with a key.
func (s *Server) Env() []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=fake",
		"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=fake",
		"GOOGLE_GEMINI_BASE_URL=" + s.URL, "GEMINI_API_KEY=fake",
	}
}

// Requests returns what was asked so far, refused requests too, in the order of arrival. Nobody may write to it.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Problems returns what was wrong with the requests so far.
func (s *Server) Problems() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.problems)
}

// SetSteps gives the server a new script, which begins with the next request.
func (s *Server) SetSteps(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.taken = slices.Clone(steps), 0
}

// ServeHTTP answers one request, also for a server of the caller's own that looks at requests first.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		writeModels(w, r.URL.Path)
		return
	}
	p, ok := protocolOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		s.problem(fmt.Errorf("%s %s is no address of a model", r.Method, r.URL.Path))
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

// accept reads and judges a request, keeps it and returns the step that answers it.
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
		return Step{}, &refusal{http.StatusBadRequest, fmt.Sprintf("the script has %d steps, and more was asked", len(s.steps))}
	}
	s.taken++
	return s.steps[s.taken-1], nil
}

func (s *Server) problem(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err)
}

// refusal is a request that is turned away with a status.
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
