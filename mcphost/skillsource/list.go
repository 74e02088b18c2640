package skillsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of a server's list. What is beyond them is left out, and named as a problem.
const (
	maxSkills   = 10_000
	maxPages    = 1_000
	maxList     = 64 << 20 // bytes of all entries
	maxProblems = 20
)

// How long a list is used before the server is asked again.
const (
	leastFresh = 10 * time.Second
	mostFresh  = 5 * time.Minute
	longest    = 2 * time.Minute // that a server has for its whole list
)

// list is what a server published.
type list struct {
	entries  map[string]*skilluri.Entry // by path
	problems []manifest.Problem
	at       time.Time // when it was asked; zero if it never answered
	until    time.Time // when it has to be asked again
}

// current returns the list of the server, and why it may be an old one. It waits for the server if there is no list, or an old one.
func (s *Source) current(ctx context.Context) (*list, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.begin(ctx)
	if done == nil || s.err != nil { // it was silent before: it has to be heard once before anybody waits again
		return s.list, s.err
	}
	wait := s.o.Wait - time.Since(s.began)
	s.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-timer.C:
	}
	s.mu.Lock()
	if s.asking == done && ctx.Err() == nil { // it is still silent
		s.err = fmt.Errorf("it has not answered within %v", s.o.Wait)
	}
	return s.list, s.err
}

// begin has the server asked for its list, if that is old, and returns what is closed when it has answered. s.mu is held.
func (s *Source) begin(ctx context.Context) <-chan struct{} {
	if s.list == nil {
		s.list = s.load()
	}
	if s.o.Now().Before(s.list.until) || ctx.Err() != nil || s.closed {
		return nil
	}
	if s.asking == nil {
		var asks context.Context
		asks, s.stop = context.WithTimeout(context.WithoutCancel(ctx), longest)
		s.asking, s.began = make(chan struct{}), time.Now()
		go s.ask(asks, s.asking)
	}
	return s.asking
}

// Begin has the server asked for its list, if that is old, and does not wait: who opens a catalogue of several servers waits for all of
// them at once.
func (s *Source) Begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(ctx)
}

// ask gets the list of the server.
func (s *Source) ask(ctx context.Context, done chan struct{}) {
	l, err := s.pages(ctx)
	if err == nil {
		if e := s.save(l); e != nil {
			l.problems = append(l.problems, s.problem("the list of the MCP server %s cannot be kept: %v", s.o.Label, e))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; err == nil {
		s.list = l
	} else {
		s.list = &list{entries: s.list.entries, problems: s.list.problems, at: s.list.at, until: s.o.Now().Add(leastFresh)}
	}
	if errors.Is(err, errNotDeclared) {
		s.list.entries, s.list.problems = nil, nil
	}
	s.asking = nil
	s.stop()
	close(done)
}

// page is an answer to skills/list.
type page struct {
	Skills     []json.RawMessage `json:"skills"`
	NextCursor string            `json:"nextCursor"`
	TTLMs      float64           `json:"ttlMs"`
}

// pages asks for all pages of the list.
func (s *Source) pages(ctx context.Context) (*list, error) {
	now := s.o.Now()
	l := &list{entries: map[string]*skilluri.Entry{}, at: now}
	seen, bytes := map[string]bool{}, 0
	fresh := mostFresh
	for cursor, n := "", 0; ; n++ {
		var p page
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		if err := s.server.Ask(ctx, "skills/list", params, &p); err != nil {
			return nil, err
		}
		fresh = min(fresh, time.Duration(min(max(p.TTLMs, 0), float64(mostFresh/time.Millisecond)))*time.Millisecond)
		for _, text := range p.Skills {
			if bytes += len(text); len(l.entries) >= maxSkills || bytes > maxList {
				return s.cut(l, fresh, "it has more than %d skills, or over %d MB of them", maxSkills, maxList>>20), nil
			}
			s.add(l, text)
		}
		if cursor = p.NextCursor; cursor == "" {
			l.until = now.Add(max(fresh, leastFresh))
			return l, nil
		}
		if seen[cursor] || n+1 >= maxPages {
			return s.cut(l, fresh, "its pages have no end: one comes again, or there are over %d", maxPages), nil
		}
		seen[cursor] = true
	}
}

// cut ends a list that is too long.
func (s *Source) cut(l *list, fresh time.Duration, format string, args ...any) *list {
	l.until = l.at.Add(max(fresh, leastFresh))
	l.problems = append(l.problems, s.problem("the list of the MCP server %s was cut, because %s", s.o.Label, fmt.Sprintf(format, args...)))
	return l
}

func (s *Source) problem(format string, args ...any) manifest.Problem {
	return manifest.Problem{Code: "server-skill-invalid", Severity: manifest.SeverityWarning, File: "mcp:" + s.o.Label, Message: fmt.Sprintf(format, args...),
		Cure: "tell who runs the server"}
}

// add adds an entry of the list, or a problem in its place.
func (s *Source) add(l *list, text []byte) {
	e, err := skilluri.ParseEntry(text)
	if err == nil {
		err = nameOf(e)
	}
	if err == nil && l.entries[e.Path()] != nil {
		err = fmt.Errorf("its address %.200q is there twice", e.URI)
	}
	switch {
	case err == nil:
		l.entries[e.Path()] = e
	case len(l.problems) < maxProblems:
		l.problems = append(l.problems, s.problem("a skill of the MCP server %s is left out: %v", s.o.Label, err))
	case len(l.problems) == maxProblems:
		l.problems = append(l.problems, s.problem("more skills of the MCP server %s are left out", s.o.Label))
	}
}

// get asks for the entry of one skill as it is now.
func (s *Source) get(ctx context.Context, uri string) (*skilluri.Entry, error) {
	var answer struct {
		Skill json.RawMessage `json:"skill"`
	}
	if err := s.server.Ask(ctx, "skills/get", map[string]any{"uri": uri}, &answer); err != nil {
		return nil, err
	}
	if answer.Skill == nil {
		return nil, errors.New("the answer has no skill")
	}
	e, err := skilluri.ParseEntry(answer.Skill)
	if err == nil {
		err = nameOf(e)
	}
	if err == nil && e.URI != uri {
		err = fmt.Errorf("the answer is about %.200q", e.URI)
	}
	return e, err
}

// nameOf returns an error for a skill whose name the open standard does not allow.
func nameOf(e *skilluri.Entry) error {
	var front struct{ Name string }
	_ = json.Unmarshal(e.FrontMatter, &front) // it was read before
	return manifest.CheckName(front.Name)
}

// latest returns the entry of a skill as the server last gave it.
func (s *Source) latest(e *skilluri.Entry) *skilluri.Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list != nil && s.list.entries[e.Path()] != nil {
		return s.list.entries[e.Path()]
	}
	return e
}

// learn takes an entry in place of the one that the list had.
func (s *Source) learn(e *skilluri.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list != nil && s.list.entries != nil {
		l := *s.list
		l.entries = make(map[string]*skilluri.Entry, len(s.list.entries))
		for path, old := range s.list.entries {
			l.entries[path] = old
		}
		l.entries[e.Path()] = e
		s.list = &l
	}
}
