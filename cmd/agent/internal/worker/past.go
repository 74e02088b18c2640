package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/llm"
)

// Past says which earlier conversation continues. The zero value begins a new one.
type Past struct {
	Latest  bool   // the last one of the project
	ID      string // this one
	Pick    bool   // the one that the user chooses
	Fork    bool   // a copy of it
	Whole   bool   // that one itself: no copy of one that another process continues
	Unsaved bool   // what is said from now on is not saved
}

// past is a conversation that continues.
type past struct {
	log  *saved.Log // nil: it is only read
	c    *saved.Conversation
	said []string // for the user
	same bool     // its requests begin as before
}

// close ends what the worker did not take over.
func (p *past) close() {
	if p != nil && p.log != nil {
		p.log.Close()
	}
}

// last returns the last prompt of a conversation that continues, perhaps cut, and the last text of the answer to it, or "".
func (p *past) last() (prompt, answer string) {
	if p == nil || len(p.c.Turns) == 0 {
		return "", ""
	}
	prompt = p.c.Turns[len(p.c.Turns)-1].Prompt
	for _, m := range slices.Backward(p.c.Messages) {
		text, results := "", false
		for _, part := range m.Parts {
			text, results = text+part.Text, results || part.Result != nil
		}
		switch {
		case m.Role == llm.Assistant && answer == "":
			answer = text
		case m.Role == llm.User && !results && strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSuffix(prompt, "…")):
			return prompt, answer
		case m.Role == llm.User && !results:
			return prompt, "" // the answer is that of an earlier prompt: the last one failed
		}
	}
	return prompt, ""
}

// listHint is what lists the conversations.
const listHint = "agent conversations list"

// open opens the conversation that continues.
func (o *Options) open(ctx context.Context) error {
	o.saves = true
	p := o.Past
	if !p.Latest && !p.Pick && p.ID == "" {
		if p.Fork {
			return failure.Usage(errors.New("--fork needs --resume ID or --continue"), "agent --resume ID --fork")
		}
		return nil
	}
	where := o.Services.Settings.Conversations()
	if where == nil {
		return o.Services.Settings.NeedHome()
	}
	id, err := o.chosen(ctx, where)
	if err != nil {
		return err
	}
	past, err := o.read(ctx, where, id)
	if err != nil {
		return ExplainPast(ctx, where, id, err)
	}
	if err := past.belongs(where); err != nil {
		past.close()
		return err
	}
	if n := len(past.c.Turns); o.Model == "" && n > 0 {
		o.Model = past.c.Turns[n-1].Model
	}
	if !p.Whole { // else the user chose it in another program, which shows it
		line := fmt.Sprintf("continues %s: %s, %s", past.c.ID, past.c.Title, output.Count(len(past.c.Turns), "turn"))
		past.said = append([]string{line}, past.said...)
	}
	switch end := past.c.Ended(); {
	case len(past.c.Turns) == 0:
	case end == nil || end.Stop == string(agent.Cancelled):
		past.said = append(past.said, "its last turn did not end: what was done in it stays")
	case end.Error != "":
		past.said = append(past.said, "its last turn ended early: "+end.Error)
	}
	if text := past.c.Damage(); text != "" {
		past.said = append(past.said, "the saved conversation is damaged: "+text)
	}
	o.past = past
	return nil
}

// read opens a conversation, or a copy of one that another process continues.
func (o *Options) read(ctx context.Context, where *saved.Options, id string) (*past, error) {
	if o.Past.Unsaved || o.Services.Settings.Config().Agent.Keep == 0 {
		c, err := saved.Read(where, id, false)
		return &past{c: c}, err
	}
	if !o.Past.Fork {
		log, c, err := saved.Open(ctx, where, id)
		if !errors.Is(err, saved.ErrInUse) || o.Past.Whole {
			return &past{log: log, c: c}, err
		}
	}
	log, c, err := saved.Fork(ctx, where, id)
	if err != nil {
		return nil, err
	}
	p := &past{log: log, c: c, said: []string{"this is a copy of " + id}}
	if !o.Past.Fork {
		p.said[0] += ", which another process continues"
	}
	return p, nil
}

// chosen returns the conversation that is meant.
func (o *Options) chosen(ctx context.Context, where *saved.Options) (string, error) {
	if id := o.Past.ID; id != "" {
		if parent := saved.Parent(id); parent != "" {
			return "", failure.Usage(fmt.Errorf("conversation %q is that of a sub-agent, and does not go on", id), fmt.Sprintf("agent --resume %s; agent conversations show %s", parent, id))
		}
		return id, nil
	}
	if o.Past.Pick && !o.Services.Approver.There() {
		return "", failure.Usage(errors.New("--resume alone needs a terminal, to choose on"), "agent --resume ID; "+listHint+" lists them")
	}
	list, _, err := saved.List(ctx, where, false, mostPicked)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", failure.NotFound(errors.New("no conversation about this project is saved"), "agent begins one; agent conversations list --all-projects shows those of others")
	}
	if o.Past.Latest {
		return list[0].ID, nil
	}
	return pick(ctx, list, o.Services.Approver.Answer)
}

// mostPicked is from how many conversations the user chooses: each has a key.
const mostPicked = 9

// pick asks which is meant.
func pick(ctx context.Context, list []saved.Summary, ask func(context.Context, *ui.Question) (string, error)) (string, error) {
	q := &ui.Question{Text: "Which conversation continues?"}
	for i, s := range list {
		q.Choices = append(q.Choices, ui.Choice{Key: fmt.Sprint(i + 1), Label: fmt.Sprintf("%s  %s  (%s)", s.Updated.Local().Format("2006-01-02 15:04"), ui.Line(s.Label()), output.Count(s.Turns, "turn"))})
	}
	if len(list) == mostPicked {
		q.Details = []string{listHint + " lists older ones, and agent --resume ID continues one"}
	}
	q.Choices = append(q.Choices, ui.Choice{Key: "n", Label: "none"})
	answer, err := ask(ctx, q)
	if err != nil {
		return "", err
	}
	for i, c := range q.Choices[:len(q.Choices)-1] {
		if answer == c.Key {
			return list[i].ID, nil
		}
	}
	return "", failure.Denied(errors.New("no conversation was chosen"), "")
}

// resumeCommand is /resume.
func (t *talk) resumeCommand(ctx context.Context, id string) (string, error) {
	where := t.o.Services.Settings.Conversations()
	if where == nil {
		return "", hinted(t.o.Services.Settings.NeedHome())
	}
	if id == "" {
		if t.w.approver == nil {
			return "", errors.New("no ID given: /resume ID")
		}
		list, _, err := saved.List(ctx, where, false, mostPicked+1)
		if err != nil {
			return "", err
		}
		list = slices.DeleteFunc(list, func(s saved.Summary) bool { return s.ID == t.w.keep.id() })
		if len(list) == 0 {
			return "", errors.New("no other conversation about this project is saved")
		}
		if id, err = pick(ctx, list[:min(len(list), mostPicked)], t.w.approver.Answer); err != nil {
			return "", err
		}
	}
	if _, err := saved.Read(where, id, false); err != nil {
		return "", hinted(ExplainPast(ctx, where, id, err))
	}
	t.next = &Past{ID: id, Unsaved: t.o.Past.Unsaved}
	return "", chat.ErrLeave
}

// forkCommand is /fork.
func (t *talk) forkCommand(context.Context, string) (string, error) {
	id := t.w.keep.id()
	if id == "" {
		return "", errors.New("nothing is saved that could be copied")
	}
	t.next = &Past{ID: id, Fork: true}
	return "", chat.ErrLeave
}

// belongs refuses a conversation about another project that is still there.
func (p *past) belongs(where *saved.Options) error {
	if p.c.Here || p.c.Project == where.Project || p.c.Project == "" {
		return nil
	}
	if info, err := os.Stat(p.c.Project); err == nil && info.IsDir() {
		return failure.NotFound(fmt.Errorf("conversation %q is about the project %q", p.c.ID, p.c.Project), fmt.Sprintf("agent --project %q --resume %s", p.c.Project, p.c.ID))
	}
	p.said = append(p.said, fmt.Sprintf("it was about %q, which is gone, and continues here", p.c.Project))
	return nil
}

// RemovePast removes a conversation, with what is kept for it.
func RemovePast(ctx context.Context, s *app.Services, id string) error {
	where := s.Settings.Conversations()
	if where == nil {
		return s.Settings.NeedHome()
	}
	if err := saved.Remove(ctx, where, id); err != nil {
		return ExplainPast(ctx, where, id, err)
	}
	forgetTemps(ctx, s.Settings.Config().Paths.Cache, id)
	return nil
}

// ExplainPast says what to do about a conversation that cannot be continued.
func ExplainPast(ctx context.Context, where *saved.Options, id string, err error) error {
	switch {
	case errors.Is(err, saved.ErrUnknown):
		hint := listHint
		if list, _, failed := saved.List(ctx, where, true, 0); failed == nil {
			var ids []string
			for _, s := range list {
				ids = append(ids, s.ID)
			}
			if meant := near.Name(id, ids); meant != "" {
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
		}
		return failure.NotFound(fmt.Errorf("unknown conversation %q", id), hint)
	case errors.Is(err, saved.ErrInUse):
		return failure.Conflict(fmt.Errorf("another process continues the conversation %q", id), "end it there first")
	case errors.Is(err, saved.ErrNewer):
		return &failure.Error{Exit: failure.ExitInvalid, Code: "newer", Err: err, Hint: "agent conversations show " + id}
	}
	return &failure.Error{Exit: failure.ExitInvalid, Code: "unreadable", Err: err, Hint: listHint}
}
