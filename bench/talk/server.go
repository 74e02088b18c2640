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

// postPath takes whatever is posted there.
const postPath = "/post"

// maxExchanges is how many requests may come before anyone looks.
const maxExchanges = 10_000

// server is a model that answers at once, with a clock before it.
type server struct {
	*fakemodel.Server
	front *httptest.Server
	seen  chan exchange
}

// exchange tells when a request came, after its header, and when its answer was written.
type exchange struct{ came, left time.Time }

// newServer starts a model that calls hello after a prompt that says so, and answers with 400 bytes to all else.
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

// ServeHTTP has a request answered and tells when.
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

// patience is how long a request may be awaited.
const patience = 30 * time.Second

// next returns the next exchange.
func (s *server) next() (exchange, error) {
	select {
	case e := <-s.seen:
		return e, nil
	case <-time.After(patience):
		return exchange{}, errors.New("no request came")
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

// start runs a command to its end and returns how long it took until its first request.
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
