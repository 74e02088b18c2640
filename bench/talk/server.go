//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"time"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// postPath accepts any post.
const postPath = "/post"

// maxExchanges is the capacity for requests that nobody has read yet.
const maxExchanges = 10_000

// server is a model that answers at once and records the times.
type server struct {
	*fakemodel.Server
	front *httptest.Server
	seen  chan exchange
}

// exchange has the time when the header of a request was read, and the time when its answer was written.
type exchange struct{ came, left time.Time }

// newServer starts a model that calls hello if the prompt asks for it, and answers everything else with 400 bytes.
func newServer() *server {
	s := &server{Server: fakemodel.Start(fakemodel.Step{From: answer, Forever: true}), seen: make(chan exchange, maxExchanges)}
	s.front = httptest.NewServer(s)
	s.URL = s.front.URL
	return s
}

func answer(q *fakemodel.Request) fakemodel.Step {
	last := q.Messages[len(q.Messages)-1]
	if strings.Contains(last.Text(), "call hello") {
		return fakemodel.Step{Calls: []fakemodel.Call{{Name: "hello", Args: `{"name":"Ada"}`}}}
	}
	return fakemodel.Step{Text: strings.Repeat("twenty bytes of text", 20), Delta: 20}
}

func (s *server) close() {
	s.front.Close()
	s.Close()
}

// ServeHTTP answers a request and records the times.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := exchange{came: time.Now()}
	if r.URL.Path == postPath {
		_, _ = io.Copy(io.Discard, r.Body)
	} else {
		s.Server.ServeHTTP(w, r)
	}
	e.left = time.Now()
	s.seen <- e
}

// patience is the longest wait for a request.
const patience = 30 * time.Second

// next returns the next exchange.
func (s *server) next() (exchange, error) {
	select {
	case e := <-s.seen:
		return e, nil
	case <-time.After(patience):
		return exchange{}, errors.New("no request")
	}
}

// taken returns all exchanges so far.
func (s *server) taken() []exchange {
	var all []exchange
	for len(s.seen) > 0 {
		all = append(all, <-s.seen)
	}
	return all
}

// start runs a command to its end and returns the time until its first request.
func (s *server) start(ctx context.Context, line, env []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = env
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, errors.Join(err, errors.New(string(out)))
	}
	e, err := s.next()
	s.taken()
	return e.came.Sub(begun), err
}
