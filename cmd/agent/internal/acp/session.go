package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
)

// session is a conversation that the editor shows.
type session struct {
	a    *adapter
	id   protocol.SessionId
	cwd  string
	want []protocol.McpServer // that the editor names; nil once the user was asked about them

	continues bool                        // an earlier conversation
	talk      atomic.Pointer[worker.Talk] // nil while it is opened

	mu     sync.Mutex
	end    context.CancelFunc // of what runs for it
	over   bool
	stop   context.CancelFunc // ends the prompt that is answered; nil between prompts
	done   chan struct{}      // closed when that prompt is answered
	turn   int                // of the prompts so far: calls of different turns may have the same ID
	asked  int                // questions about no call
	mode   permit.Mode        // that the editor shows
	title  string             // that it shows
	offers string             // the commands that it shows
	chosen string             // the options that it shows
	steps  []todo.Item        // that it shows as its plan
	models []string           // that can be chosen, as far as they are known
	notes  []string           // for the user, with the next prompt

	live live
}

// opening says which session is wanted.
type opening struct {
	cwd     string
	servers []protocol.McpServer
	id      protocol.SessionId // of the one that continues; "" for a new one
	shown   bool               // what was said in it is shown again
}

// open opens a session. What follows its answer is sent once after is done.
func (a *adapter) open(ctx, after context.Context, w *opening) (*session, error) {
	services, err := a.services(w.cwd, w.servers)
	if err != nil {
		return nil, err
	}
	if old, err := a.find(w.id); err == nil {
		a.drop(old)
	}
	s := &session{a: a, id: w.id, cwd: w.cwd, want: w.servers, continues: w.id != ""}
	s.live.send = s.update
	if err := s.start(services); err != nil {
		return nil, err
	}
	if s.continues {
		if err := s.replay(ctx, services, w); err != nil {
			s.close(context.WithoutCancel(a.life))
			return nil, err
		}
	}
	s.notes = s.talk.Load().Said()
	if err := a.keep(s); err != nil {
		s.close(context.WithoutCancel(a.life))
		return nil, err
	}
	context.AfterFunc(after, func() {
		s.offer()
		s.tellPlan()
		s.look(a.life)
	})
	return s, nil
}

// start opens the conversation of a session.
func (s *session) start(services *app.Services) error {
	life, end := context.WithCancel(s.a.life)
	o := s.a.o.Session(services)
	if o.ID = string(s.id); s.continues {
		o.Past.ID, o.Past.Whole, o.ID = o.ID, true, ""
	}
	talk, err := worker.Open(life, o, s.ask, s.watched)
	if err != nil {
		end()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id, s.end, s.mode = protocol.SessionId(talk.ID()), end, talk.Mode()
	s.talk.Store(talk)
	return nil
}

// approve asks about the servers that the editor names, and opens the conversation again if it may use one.
func (s *session) approve(ctx context.Context) error {
	if len(s.want) == 0 {
		return nil
	}
	services, err := s.a.services(s.cwd, s.want)
	if err != nil {
		return err
	}
	approved, said, err := worker.OfferServers(ctx, services, s.ask)
	for _, text := range said {
		s.say(text)
	}
	if err != nil {
		return err
	}
	if s.want = nil; !approved {
		return nil
	}
	old := s.talk.Load()
	mode, model, effort := old.Mode(), old.Model(), old.Effort()
	s.end()
	old.Close(context.WithoutCancel(ctx))
	if err := s.start(services); err != nil {
		s.a.forget(s)
		return err
	}
	now := s.talk.Load()
	if now.Mode() != mode {
		err = now.SetMode(mode)
	}
	if now.Model() != model {
		err = errors.Join(err, now.SetModel(ctx, model))
	}
	if now.Effort() != effort {
		err = errors.Join(err, now.SetEffort(ctx, effort))
	}
	return err
}

// keep adds a session to those that are open.
func (a *adapter) keep(s *session) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sessions) >= mostSessions {
		return fmt.Errorf("%d sessions are open: close one with session/close", mostSessions)
	}
	a.sessions[s.id] = s
	return nil
}

// close ends the session, with what runs for it.
func (s *session) close(ctx context.Context) {
	s.cancel()
	s.mu.Lock()
	done := s.done
	s.over = true
	s.mu.Unlock()
	if done != nil {
		<-done
	}
	s.end()
	s.talk.Load().Close(ctx)
}

// cancel ends the prompt that is answered.
func (s *session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
}

// update sends one update to the editor. Nobody waits for it: an editor that has left gets none.
func (s *session) update(u protocol.SessionUpdate) {
	_ = s.a.conn.SendNotification(s.a.life, protocol.ClientMethodSessionUpdate, protocol.SessionNotification{SessionId: s.id, Update: u})
}

// say shows something that neither the user nor the model says.
func (s *session) say(text string) {
	s.update(protocol.UpdateAgentMessageText("\n\n> " + strings.ReplaceAll(ui.Text(strings.TrimSpace(text)), "\n", "\n> ") + "\n\n"))
}

// offer shows the commands that a prompt may begin with, if they have changed.
func (s *session) offer() {
	var list []protocol.AvailableCommand
	add := func(name, about, hint string) {
		c := protocol.AvailableCommand{Name: name, Description: ui.Line(about)}
		if hint != "" {
			c.Input = &protocol.AvailableCommandInput{Unstructured: &protocol.UnstructuredCommandInput{Hint: hint}}
		}
		list = append(list, c)
	}
	for _, c := range s.talk.Load().Commands() {
		add(c.Name, c.Help, c.Usage)
	}
	for _, k := range s.talk.Load().Skills() {
		add(k.Name, k.About, "[ARGUMENTS]")
	}
	for _, name := range s.talk.Load().Prompts() {
		add(name, "Use this prompt of an MCP server.", "[ARGUMENTS]")
	}
	text, _ := json.Marshal(list) // it has nothing that JSON does not know
	now := string(text)
	s.mu.Lock()
	same := s.offers == now
	s.offers = now
	s.mu.Unlock()
	if !same {
		s.update(protocol.SessionUpdate{AvailableCommandsUpdate: &protocol.SessionAvailableCommandsUpdate{AvailableCommands: list}})
	}
}

// claim begins something that is done alone in a session, such as a prompt. finish ends it.
func (s *session) claim(stop context.CancelFunc) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return wrong("the session is closed")
	}
	if s.stop != nil {
		return &protocol.RequestError{Code: -32600, Message: "a prompt of this session is being answered: wait for it, or send session/cancel"}
	}
	s.stop, s.done = stop, make(chan struct{})
	return nil
}

// begin begins a prompt.
func (s *session) begin(stop context.CancelFunc) (notes []string, err error) {
	if err := s.claim(stop); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	notes, s.notes = s.notes, nil
	return notes, nil
}

func (s *session) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = nil
	close(s.done)
}

// prompt answers what the user wrote.
func (s *session) prompt(ctx context.Context, blocks []protocol.ContentBlock) (any, error) {
	said, err := content(blocks)
	if err != nil {
		return nil, err
	}
	turn, cancel := context.WithCancel(ctx)
	defer cancel()
	notes, err := s.begin(cancel)
	if err != nil {
		return nil, err
	}
	defer s.finish()
	for _, text := range notes {
		s.say(text)
	}
	var stop protocol.StopReason
	if c, args, ok := s.command(said.typed); ok {
		stop, err = s.run(turn, c, args)
	} else {
		stop, err = s.answer(turn, said)
	}
	s.tellMode()
	s.offer()
	s.tellOptions()
	s.tellUsage()
	s.tellPlan()
	if err != nil && turn.Err() == nil {
		return nil, err
	}
	if turn.Err() != nil {
		stop = protocol.StopReasonCancelled
	}
	return protocol.PromptResponse{StopReason: stop}, nil
}

// command returns the command that a prompt is.
func (s *session) command(typed string) (c chat.Command, args string, ok bool) {
	name, args, ok := chat.CutCommand(typed)
	all := s.talk.Load().Commands()
	i := slices.IndexFunc(all, func(c chat.Command) bool { return c.Name == name })
	if !ok || i < 0 {
		return c, "", false
	}
	return all[i], args, true
}

// run runs a command, and shows what it prints.
func (s *session) run(ctx context.Context, c chat.Command, args string) (protocol.StopReason, error) {
	text, err := c.Run(ctx, args)
	if err != nil {
		return "", err
	}
	if strings.Contains(text, "\n") {
		text = fenced(text)
	}
	s.update(protocol.UpdateAgentMessageText(text))
	return protocol.StopReasonEndTurn, nil
}

// answer has the model answer a prompt.
func (s *session) answer(ctx context.Context, said *written) (stop protocol.StopReason, err error) {
	if err := s.approve(ctx); err != nil {
		return "", err
	}
	var done *agent.Answer
	for step, failed := range s.talk.Load().Ask(ctx, said.whole, said.typed, said.shown...) {
		if step.Done != nil {
			done, err = step.Done, failed
			break
		}
		s.show(&step)
	}
	if done == nil || err != nil {
		return protocol.StopReasonCancelled, err
	}
	why := worker.Ended(done)
	switch done.Stop {
	case agent.Length:
		stop = protocol.StopReasonMaxTokens
	case agent.Turns:
		stop = protocol.StopReasonMaxTurnRequests
	case agent.Refused:
		stop = protocol.StopReasonRefusal
	default:
		return protocol.StopReasonEndTurn, why
	}
	s.say(why.Error())
	return stop, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
