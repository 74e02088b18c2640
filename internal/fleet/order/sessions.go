package order

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// mostSessions is how many sessions have toolsets on one worker. The one that was not used for the longest time gives way.
const mostSessions = 64

// sessionKey names a session of a tenant. No other session reaches its processes.
type sessionKey struct{ tenant, name string }

// sessions has the toolsets of the sessions of a worker.
type sessions struct {
	mu     sync.Mutex
	open   map[sessionKey]*session
	closed bool
	ending sync.WaitGroup // sessions that gave way
}

// session is the toolsets of one session, and what keeps the files of their skills.
type session struct {
	host  *toolset.Host
	calls int
	used  time.Time
	held  map[skill.ID]func()
}

var errEnded = errors.New("the worker ends")
var errManySessions = errors.New("every session of this worker is in use")

// enter returns the session of an order, until leave is called. hold keeps the files of the skill as long as the session; nil if nothing
// removes them.
func (ss *sessions) enter(ctx context.Context, h *host, o *Order, hold func(context.Context, skill.ID) (func(), error)) (*toolset.Host, func(), error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	key := sessionKey{o.For.Tenant, o.Session}
	s := ss.open[key]
	if s == nil {
		if err := ss.room(); err != nil {
			return nil, nil, err
		}
		host, err := toolset.New(&h.toolsets)
		if err != nil {
			return nil, nil, err
		}
		s = &session{host: host, held: map[skill.ID]func(){}}
		ss.open[key] = s
	}
	if s.held[o.Skill] == nil && hold != nil {
		release, err := hold(ctx, o.Skill)
		if err != nil {
			return nil, nil, err
		}
		s.held[o.Skill] = release
	}
	s.calls++
	return s.host, func() {
		ss.mu.Lock()
		defer ss.mu.Unlock()
		s.calls--
		s.used = time.Now()
	}, nil
}

// room makes room for another session. The caller holds the lock.
func (ss *sessions) room() error {
	if ss.closed {
		return errEnded
	}
	if ss.open == nil {
		ss.open = map[sessionKey]*session{}
	}
	if len(ss.open) < mostSessions {
		return nil
	}
	var oldest sessionKey
	for key, s := range ss.open {
		if s.calls == 0 && (ss.open[oldest] == nil || s.used.Before(ss.open[oldest].used)) {
			oldest = key
		}
	}
	s := ss.open[oldest]
	if s == nil {
		return errManySessions
	}
	delete(ss.open, oldest)
	ss.ending.Go(s.close)
	return nil
}

// Close ends all toolsets, and waits for that. Later orders about toolsets fail.
func (w *Worker) Close() {
	ss := &w.sessions
	ss.mu.Lock()
	ss.closed = true
	open := ss.open
	ss.open = nil
	ss.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range open {
		wg.Go(s.close)
	}
	wg.Wait()
	ss.ending.Wait()
}

// tools lists the tools of toolsets. It may return both tools and an error.
func (w *Worker) tools(ctx context.Context, h *host, j *job, s *skill.Skill) error {
	o := j.o
	host, leave, err := w.sessions.enter(ctx, h, o, w.Hold)
	if err != nil {
		return err
	}
	defer leave()
	var list []tool.Tool
	if o.Tool.Class == "" {
		list, err = host.Tools(ctx, s, nil)
	} else {
		list, err = host.ToolsOf(ctx, s, nil, o.Tool.Class)
	}
	j.result.Tools = []ToolForm{}
	for _, t := range list {
		j.result.Tools = append(j.result.Tools, ToolForm{strings.TrimPrefix(t.Source, s.Canonical()+"."), t.Name, t.Description, t.Input})
	}
	return err
}

// tool calls a tool.
func (w *Worker) tool(ctx context.Context, h *host, j *job, s *skill.Skill) error {
	o := j.o
	host, leave, err := w.sessions.enter(ctx, h, o, w.Hold)
	if err != nil {
		return err
	}
	defer leave()
	list, err := host.ToolsOf(ctx, s, nil, o.Tool.Class)
	i := slices.IndexFunc(list, func(t tool.Tool) bool { return t.Name == o.Tool.Name })
	if i < 0 {
		return cmp.Or(err, error(&script.Error{Code: script.ExecutionFailed, Message: fmt.Sprintf("Toolset %s of skill '%s' has no tool %s now: list them again", o.Tool.Class, s.Name(), o.Tool.Name)}))
	}
	out := &stream{j: j, err: true}
	var lacked want.Set
	r := list[i].Call(tool.WithWatch(ctx, func(e tool.Event) {
		switch {
		case e.Kind == tool.EventNeeds:
			lacked = lacked.Add(e.Need)
		case e.Kind == tool.EventOutput && o.Watch:
			_, _ = out.Write([]byte(e.Text)) // without a reader the result is enough
		}
	}), o.Tool.Args)
	if err = ctx.Err(); err != nil {
		return err
	}
	a := &Answer{Success: r.Success, Message: r.Message, Error: r.Error, Reason: r.Reason, Media: r.Media, Lacked: lacked}
	if r.Result != nil {
		a.Result, err = json.Marshal(r.Result)
	}
	j.result.Answer = a
	return err
}

func (s *session) close() {
	s.host.Close()
	for _, release := range s.held {
		release()
	}
}
