package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/tool"
)

// newTalk begins a conversation, or continues the one that was opened. ask puts its questions to a person; nil means that nobody can be
// asked. watched gets the events of calls. The caller closes it.
func newTalk(ctx context.Context, o *Options, ask consent.AskFunc, watched func(tool.Event)) (*talk, error) {
	t := &talk{o: o, spent: spent{skills: map[string]int{}}}
	var approver *consent.Approver
	if ask != nil {
		approver = consent.NewChatApprover(ask)
	}
	w, err := openWorker(ctx, o, approver, "", func(cat *skill.Catalog) (func() *skill.Catalog, func(context.Context) error) {
		o.Services.Out.Chat()
		t.watch = watch.Start(ctx, &watch.Options{Catalog: cat, Trace: o.Services.Observe.Tracer()})
		return t.watch.Catalog, func(ctx context.Context) error {
			_, err := t.watch.Refresh(ctx)
			return err
		}
	})
	if err != nil {
		if t.watch != nil {
			t.watch.Close()
		}
		return nil, err
	}
	t.w, w.watch = w, watched
	if o.past != nil {
		for _, turn := range slices.Concat(o.past.c.Turns, o.past.c.Left) {
			if turn.End != nil {
				t.spent.pay(turn.End.Usage, o.Services.Models.Finder().FactsFor(turn.Model).Prices)
			}
		}
	}
	t.lookAtBranch()
	return t, nil
}

// close ends the conversation, with what runs for it.
func (t *talk) close(ctx context.Context) {
	t.w.close(ctx)
	t.watch.Close()
}

// Talk is a conversation that another program shows, such as an editor. One goroutine at a time calls its methods. While a prompt is
// answered, SetMode, Mode, and the methods that only read the model and its effort may be called, too, and Close once its context is done.
type Talk struct{ t *talk }

// Open begins a conversation, or continues the one that o.Past names. ask puts its questions to the user; watched gets the events of calls,
// and must return at once.
func Open(ctx context.Context, o *Options, ask consent.AskFunc, watched func(tool.Event)) (*Talk, error) {
	if err := o.open(ctx); err != nil {
		return nil, err
	}
	t, err := newTalk(ctx, o, ask, watched)
	if err != nil {
		o.past.close()
		return nil, err
	}
	return &Talk{t}, nil
}

// Close ends the conversation, with what runs for it.
func (t *Talk) Close(ctx context.Context) {
	t.t.close(ctx)
	t.t.o.Services.Served.Close()
}

// ID names the conversation, also when it continues later.
func (t *Talk) ID() string { return t.t.w.id }

// Title names the conversation for people: it is the beginning of its first prompt, "" before that or if it is not saved.
func (t *Talk) Title() string {
	if log := t.t.w.keep.log; log != nil {
		return log.Title()
	}
	return ""
}

// Said returns what the user should know before the first prompt of a conversation that continues.
func (t *Talk) Said() []string { return t.t.w.keep.said }

// Ask answers a prompt, and shows the model images and documents. typed is the part of it that the user typed: it may begin with the name of a skill after a slash.
func (t *Talk) Ask(ctx context.Context, prompt, typed string, with ...llm.Media) iter.Seq2[agent.Step, error] {
	return t.t.ask(ctx, prompt, typed, with...)
}

// Ended returns an error for a turn that ended without an answer; nil for another.
func Ended(a *agent.Answer) error { return hinted(ended(a)) }

// ofScreen are the commands that a program which shows what was said cannot follow: it would show what the model no longer has. It
// has its own ways to begin and to continue.
var ofScreen = []string{"back", "clear", "fork", "resume"}

// Commands returns the commands that the user may type.
func (t *Talk) Commands() []chat.Command {
	return slices.DeleteFunc(t.t.commands(), func(c chat.Command) bool { return slices.Contains(ofScreen, c.Name) })
}

// Skill is a skill that a prompt may begin with, after a slash.
type Skill struct{ Name, About string }

// Skills returns the skills that the user may name.
func (t *Talk) Skills() []Skill {
	var out []Skill
	for _, s := range t.t.skills() {
		if !s.Refused {
			out = append(out, Skill{s.Name, s.About})
		}
	}
	return out
}

// Prompts returns the prompts of MCP servers that a prompt may begin with, as LABEL:NAME, as far as they are known.
func (t *Talk) Prompts() (out []string) {
	for _, label := range t.t.w.servers.labels() {
		for _, name := range t.t.w.servers.promptsOf(label) {
			out = append(out, label+":"+name)
		}
	}
	return out
}

// Items returns the list of steps.
func (t *Talk) Items() []todo.Item { return t.t.w.todo.Items() }

// Workspace is the folder that paths in calls are relative to.
func (t *Talk) Workspace() string { return t.t.w.s.Settings.Config().Paths.Project }

// Mode says what needs no question.
func (t *Talk) Mode() permit.Mode { return t.t.w.gate.current().Mode() }

// SetMode changes that for the rest of the conversation.
func (t *Talk) SetMode(m permit.Mode) error {
	if !slices.Contains(permit.Modes(), m) {
		return failure.Usage(fmt.Errorf("unknown mode %q", m), "use one of "+strings.Join(completeModes(""), ", "))
	}
	return t.t.w.gate.setMode(m)
}

// Model names the model that answers now.
func (t *Talk) Model() string { return t.t.model().String() }

// Models returns the names of the models that can be reached. It may be called while a prompt is answered.
func (t *Talk) Models(ctx context.Context) []string { return t.t.w.s.Models.Finder().Reachable(ctx) }

// SetModel changes the model that answers.
func (t *Talk) SetModel(ctx context.Context, name string) error {
	if name == "" {
		return failure.Usage(errors.New("no model is named"), "name one as PROVIDER/NAME")
	}
	_, err := t.t.modelCommand(ctx, name)
	return err
}

// Effort says how much the model thinks: one of Efforts.
func (t *Talk) Effort() string { return cmp.Or(t.t.effort(), noEffort) }

// Efforts returns the efforts that the present model has.
func (t *Talk) Efforts() []string { return t.t.completeEfforts("") }

// SetEffort changes how much the model thinks.
func (t *Talk) SetEffort(ctx context.Context, word string) error {
	if all := t.Efforts(); !slices.Contains(all, word) {
		return failure.Usage(fmt.Errorf("%s has no effort %q", t.Model(), word), "use one of "+strings.Join(all, ", "))
	}
	_, err := t.t.effortCommand(ctx, word)
	return err
}

// Usage returns how many tokens of the model's window are used, 0 if that is not known, and what the conversation cost in US dollars.
func (t *Talk) Usage() (used, size int, cost float64) {
	s, found := &t.t.spent, t.t.model()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.Input + s.last.Output, window(t.t.w.s.Settings.Config(), &found.Facts), s.cost
}

// ModeInfo is a mode, with what it means.
type ModeInfo struct {
	Mode  permit.Mode
	About string
}

// Modes returns all modes.
func Modes() []ModeInfo {
	return []ModeInfo{
		{permit.Ask, "ask before each change and each command outside a sandbox"},
		{permit.AcceptEdits, "change files of the project without a question"},
		{permit.Plan, "change nothing before you approve a plan"},
		{permit.ReadOnly, "change and run nothing"},
		{permit.All, "ask nothing, in the sandbox"},
	}
}

// Modes returns the modes that may be chosen here, with the present one.
func (t *Talk) Modes() []ModeInfo {
	g := t.t.w.gate
	return slices.DeleteFunc(Modes(), func(m ModeInfo) bool { return m.Mode != t.Mode() && g.refuseMode(m.Mode) != nil })
}

// Saved returns a saved conversation of the project, with what was said.
func Saved(ctx context.Context, s *app.Services, id string) (*saved.Conversation, error) {
	where := s.Settings.Conversations()
	if where == nil {
		return nil, s.Settings.NeedHome()
	}
	c, err := saved.Read(where, id, true)
	if err != nil {
		return nil, ExplainPast(ctx, where, id, err)
	}
	return c, nil
}

// OfferServers asks the user about each MCP server that an editor names and that was not approved as it is. It reports whether one was
// approved: only a conversation that is opened later uses it. said is for the user.
func OfferServers(ctx context.Context, s *app.Services, ask consent.AskFunc) (approved bool, said []string, err error) {
	for _, e := range s.MCP.OfEditor(ctx) {
		if err := cmp.Or(e.Refused(), s.MCP.Check(e)); err != nil {
			said = append(said, fmt.Sprintf("the MCP server %s is not used: %v", e.Label, hinted(err)))
			continue
		}
		if e.State.Starts() {
			continue
		}
		answer, err := ask(ctx, e.Question(fmt.Sprintf("Let the agent use the MCP server %q that the editor names?", e.Label), e.Facts()))
		if err != nil {
			return approved, said, err
		}
		given, yes := e.Approved(answer, nil)
		if !yes {
			continue
		}
		if err := s.MCP.Approve(ctx, e, given); err != nil {
			return approved, said, err
		}
		approved = true
	}
	return approved, said, nil
}
