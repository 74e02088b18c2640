// Package acp lets an editor drive the agent: it speaks the Agent Client Protocol, version 1, in lines of JSON. A session is a
// conversation of package worker, in the folder that the editor names; what happens in it is shown by updates, and each question becomes a
// request for a permission. Nothing is decided here: rules, modes, the sandbox and the policy of the organisation hold as in the terminal.
//
// Texts of models, commands and files go to the editor unchanged: the editor makes them safe to show. Titles and questions are
// sanitised here.
package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
)

// Bounds of what an editor may have at once.
const (
	mostSessions = 32
	mostRequests = 256 // that are under way
	pageSize     = 100 // sessions in an answer of session/list
)

// Options says what an editor gets. All are required.
type Options struct {
	Services *app.Services
	In       io.Reader
	Out      io.Writer

	// Session returns the options of a conversation with its own services.
	Session func(s *app.Services) *worker.Options
}

// adapter is the agent's side of the connection to an editor.
type adapter struct {
	o    *Options
	life context.Context // of all sessions
	conn *protocol.Connection
	out  *outlet

	forms atomic.Bool // the editor shows forms

	mu       sync.Mutex
	sessions map[protocol.SessionId]*session
	requests int
	over     bool // no request is taken any more
	idle     *sync.Cond
}

// Serve talks to an editor until it leaves or ctx is done, and ends all sessions then. It returns an error if what the editor writes is not
// the protocol.
func Serve(ctx context.Context, o *Options) error {
	life, end := context.WithCancel(ctx)
	defer end()
	a := &adapter{o: o, life: life, out: newOutlet(o.Out), sessions: map[protocol.SessionId]*session{}}
	a.idle = sync.NewCond(&a.mu)
	in := newInlet(o.In, a.out)
	a.conn = protocol.NewConnection(a.handle, a.out, in)
	a.conn.SetLogger(slog.New(slog.DiscardHandler)) // the inlet says what is wrong with a line
	in.open()
	select {
	case <-a.conn.Done():
	case <-a.out.Gone():
	case <-ctx.Done():
	}
	end()
	defer a.out.leave()()
	a.mu.Lock()
	for a.over = true; a.requests > 0; {
		a.idle.Wait()
	}
	a.mu.Unlock()
	for _, s := range a.sessions {
		s.close(context.WithoutCancel(ctx))
	}
	_ = a.out.Close() // an editor that has left reads nothing
	if err := ctx.Err(); err != nil {
		return err
	}
	return in.failed()
}

// begin reports whether a request may be answered. end follows it.
func (a *adapter) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.over:
		return errors.New("the agent ends")
	case a.requests >= mostRequests:
		return fmt.Errorf("%d requests are under way: wait for an answer", mostRequests)
	}
	a.requests++
	return nil
}

func (a *adapter) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests--
	a.idle.Broadcast()
}

// handle answers a request of the editor.
func (a *adapter) handle(ctx context.Context, method string, params json.RawMessage) (any, *protocol.RequestError) {
	if err := a.begin(); err != nil {
		return nil, fault(err)
	}
	defer a.end()
	work, cancel := context.WithCancel(a.life)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	result, err := a.route(work, ctx, method, params)
	if err != nil {
		return nil, fault(err)
	}
	return result, nil
}

// route does what a request asks for. after is done when its answer was sent.
func (a *adapter) route(ctx, after context.Context, method string, params json.RawMessage) (any, error) {
	opened := func(w *opening, answer func(*session) any) (any, error) {
		s, err := a.open(ctx, after, w)
		if err != nil {
			return nil, err
		}
		return answer(s), nil
	}
	in := func(id protocol.SessionId, do func(*session) (any, error)) (any, error) {
		s, err := a.find(id)
		if err != nil {
			return nil, err
		}
		return do(s)
	}
	switch method {
	case protocol.AgentMethodInitialize:
		return with(params, a.initialize)
	case protocol.AgentMethodAuthenticate:
		return protocol.AuthenticateResponse{}, nil // nothing is needed
	case protocol.AgentMethodSessionNew:
		return with(params, func(p *protocol.NewSessionRequest) (any, error) {
			return opened(&opening{cwd: p.Cwd, servers: p.McpServers}, func(s *session) any {
				return protocol.NewSessionResponse{SessionId: s.id, Modes: s.modes(), ConfigOptions: s.shownOptions()}
			})
		})
	case protocol.AgentMethodSessionLoad:
		return with(params, func(p *protocol.LoadSessionRequest) (any, error) {
			return opened(&opening{cwd: p.Cwd, servers: p.McpServers, id: p.SessionId, shown: true}, func(s *session) any {
				return protocol.LoadSessionResponse{Modes: s.modes(), ConfigOptions: s.shownOptions()}
			})
		})
	case protocol.AgentMethodSessionResume:
		return with(params, func(p *protocol.ResumeSessionRequest) (any, error) {
			return opened(&opening{cwd: p.Cwd, servers: p.McpServers, id: p.SessionId}, func(s *session) any {
				return protocol.ResumeSessionResponse{Modes: s.modes(), ConfigOptions: s.shownOptions()}
			})
		})
	case protocol.AgentMethodSessionList:
		return with(params, func(p *protocol.ListSessionsRequest) (any, error) { return a.list(ctx, p) })
	case protocol.AgentMethodSessionClose:
		return with(params, func(p *protocol.CloseSessionRequest) (any, error) {
			return in(p.SessionId, func(s *session) (any, error) { a.drop(s); return protocol.CloseSessionResponse{}, nil })
		})
	case sessionDelete:
		return with(params, func(p *protocol.CloseSessionRequest) (any, error) { return struct{}{}, a.remove(ctx, p.SessionId) })
	case protocol.AgentMethodSessionPrompt:
		return with(params, func(p *protocol.PromptRequest) (any, error) {
			return in(p.SessionId, func(s *session) (any, error) { return s.prompt(ctx, p.Prompt) })
		})
	case protocol.AgentMethodSessionCancel:
		return with(params, func(p *protocol.CancelNotification) (any, error) {
			return in(p.SessionId, func(s *session) (any, error) { s.cancel(); return nil, nil })
		})
	case protocol.AgentMethodSessionSetMode:
		return with(params, func(p *protocol.SetSessionModeRequest) (any, error) {
			return in(p.SessionId, func(s *session) (any, error) {
				err := s.setMode(p.ModeId)
				s.tellOptions()
				return protocol.SetSessionModeResponse{}, err
			})
		})
	case protocol.AgentMethodSessionSetConfigOption:
		return with(params, func(p *protocol.SetSessionConfigOptionRequest) (any, error) {
			if p.ValueId == nil {
				return nil, wrong("each option of a session has a text as its value")
			}
			return in(p.ValueId.SessionId, func(s *session) (any, error) {
				if err := s.choose(ctx, p.ValueId.ConfigId, string(p.ValueId.Value)); err != nil {
					return nil, err
				}
				return protocol.SetSessionConfigOptionResponse{ConfigOptions: s.shownOptions()}, nil
			})
		})
	}
	return nil, protocol.NewMethodNotFound(method)
}

// with reads the parameters of a request and answers it.
func with[T any, P interface {
	*T
	Validate() error
}](params json.RawMessage, answer func(P) (any, error)) (any, error) {
	p := P(new(T))
	err := json.Unmarshal(params, p)
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, wrong("the parameters are wrong: %v", err)
	}
	return answer(p)
}

// initialize says what this agent can do.
func (a *adapter) initialize(p *protocol.InitializeRequest) (any, error) {
	a.forms.Store(p.ClientCapabilities.Elicitation != nil && p.ClientCapabilities.Elicitation.Form != nil)
	return withDelete(protocol.InitializeResponse{
		ProtocolVersion: protocol.ProtocolVersionNumber,
		AgentInfo:       &protocol.Implementation{Name: "agent", Title: protocol.Ptr("agent"), Version: setup.Version},
		AuthMethods:     []protocol.AuthMethod{},
		AgentCapabilities: protocol.AgentCapabilities{
			LoadSession:        true,
			McpCapabilities:    protocol.McpCapabilities{Http: true},
			PromptCapabilities: protocol.PromptCapabilities{EmbeddedContext: true, Image: true},
			SessionCapabilities: protocol.SessionCapabilities{List: &protocol.SessionListCapabilities{},
				Resume: &protocol.SessionResumeCapabilities{}, Close: &protocol.SessionCloseCapabilities{}},
		},
	})
}

// sessionDelete is a request of the protocol that the SDK does not have. Its parameters are those of session/close.
const sessionDelete = "session/delete"

// withDelete adds that it is answered.
func withDelete(r protocol.InitializeResponse) (any, error) {
	r.AgentCapabilities.SessionCapabilities.Meta = map[string]any{"delete": struct{}{}}
	src, err := json.Marshal(r)
	return json.RawMessage(bytes.Replace(src, []byte(`"_meta":{"delete":{}}`), []byte(`"delete":{}`), 1)), err
}

// remove ends a session and removes its conversation. It is not an error if there is none.
func (a *adapter) remove(ctx context.Context, id protocol.SessionId) error {
	if s, err := a.find(id); err == nil {
		a.drop(s)
	}
	err := worker.RemovePast(ctx, a.o.Services, string(id))
	if err != nil && failure.Explain(err).Exit == failure.ExitNotFound {
		return nil
	}
	return err
}

// list answers session/list: the conversations of a folder's project, or of all.
func (a *adapter) list(ctx context.Context, p *protocol.ListSessionsRequest) (any, error) {
	s, all, from := a.o.Services, p.Cwd == nil, 0
	if !all {
		var err error
		if s, err = a.services(*p.Cwd, nil); err != nil {
			return nil, err
		}
	}
	if p.Cursor != nil {
		var err error
		if from, err = strconv.Atoi(*p.Cursor); err != nil || from < 0 || from > 1<<20 {
			return nil, wrong("no list has the cursor %.40q", *p.Cursor)
		}
	}
	where := s.Settings.Conversations()
	if where == nil {
		return nil, s.Settings.NeedHome()
	}
	list, more, err := saved.List(ctx, where, all, from+pageSize)
	if err != nil {
		return nil, err
	}
	out := protocol.ListSessionsResponse{Sessions: []protocol.SessionInfo{}}
	for _, c := range list[min(from, len(list)):] {
		out.Sessions = append(out.Sessions, protocol.SessionInfo{SessionId: protocol.SessionId(c.ID), Cwd: c.Project,
			Title: protocol.Ptr(ui.Line(c.Label())), UpdatedAt: protocol.Ptr(c.Updated.UTC().Format(time.RFC3339))})
	}
	if more > 0 {
		out.NextCursor = protocol.Ptr(strconv.Itoa(from + pageSize))
	}
	return out, nil
}

// services returns the services of a session in a folder, with the MCP servers that the editor names.
func (a *adapter) services(cwd string, servers []protocol.McpServer) (*app.Services, error) {
	flags := *a.o.Services.Flags
	dir, err := filepath.EvalSymlinks(cwd)
	if !filepath.IsAbs(cwd) || err != nil || !isDir(dir) {
		return nil, wrong("cwd is %q, and must be the absolute path of a folder", cwd)
	}
	if flags.Project != "" {
		only, err := filepath.EvalSymlinks(a.o.Services.Sys.Abs(flags.Project))
		if below, rel := filepath.Rel(only, dir); err != nil || rel != nil || !filepath.IsLocal(below) {
			return nil, wrong("the session is about %q, and the agent was started for --project %q: start another one", cwd, flags.Project)
		}
	}
	log := a.o.Services.Out.Err
	s := a.o.Services.In(cwd, &flags, &ui.Streams{In: strings.NewReader(""), Out: log, Err: log})
	if err := propose(s.Settings, servers); err != nil {
		return nil, err
	}
	if err := s.Governed(); err != nil {
		return nil, err
	}
	return s, s.Settings.NeedTenant()
}

// find returns a session that is open.
func (a *adapter) find(id protocol.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &protocol.RequestError{Code: notFound, Message: fmt.Sprintf("no session %q is open: begin one with session/new, or session/load it", ui.Line(string(id)))}
}

// forget takes a session from those that are open. It reports whether it was one.
func (a *adapter) forget(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	there := a.sessions[s.id] == s
	if there {
		delete(a.sessions, s.id)
	}
	return there
}

// drop ends a session.
func (a *adapter) drop(s *session) {
	if a.forget(s) {
		s.close(context.WithoutCancel(a.life))
	}
}

// notFound is the code of an error about something that is not there.
const notFound = -32002

// wrong returns the error for what an editor did wrong.
func wrong(format string, args ...any) error {
	return &protocol.RequestError{Code: -32602, Message: fmt.Sprintf(format, args...)}
}

// fault returns an error as the editor shows it: with what to do next.
func fault(err error) *protocol.RequestError {
	if known, ok := errors.AsType[*protocol.RequestError](err); ok {
		return known
	}
	if errors.Is(err, context.Canceled) {
		return &protocol.RequestError{Code: -32800, Message: "the request was cancelled"}
	}
	f := failure.Explain(err)
	out := &protocol.RequestError{Code: -32603, Message: err.Error(), Data: map[string]any{"code": f.Code}}
	if f.Hint != "" && !strings.Contains(out.Message, f.Hint) {
		out.Message += "\nhint: " + f.Hint
	}
	switch f.Exit {
	case failure.ExitUsage:
		out.Code = -32602
	case failure.ExitNotFound:
		out.Code = notFound
	}
	out.Message = ui.Text(out.Message)
	return out
}
