package skilltool

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// Turn returns what stands next to a user's prompt (see disclose.Plan). With the mode triggers the skills that the prompt
// calls for are activated, as if the model had called the tool skill for each: they are on the session's stack, what
// was told before is not told again, and a skill with context: fork is only named. In every other mode nothing is
// activated. The error is ctx's. No model is told of anything then: the skills that Turn activated are left again, and those that it
// renewed are told in full the next time.
func (k *Kit) Turn(ctx context.Context, p *disclose.Plan, prompt string) (disclose.Choice, error) {
	c := k.o.Catalog()
	var begun []entered
	choice, err := p.Turn(ctx, c, prompt, &disclose.TurnOptions{Recent: k.o.Session.Recent(), Indexes: k.o.Indexes,
		Render: func(ctx context.Context, e skill.Entry) (disclose.Text, error) {
			text, in, err := k.offer(ctx, e)
			if err == nil {
				begun = append(begun, in)
			}
			return text, err
		}})
	if err != nil {
		k.takeBack(ctx, begun)
	}
	return choice, err
}

// takeBack undoes what a turn did of which no model is told, the last first.
func (k *Kit) takeBack(ctx context.Context, begun []entered) {
	ctx, cancel := timed(context.WithoutCancel(ctx))
	defer cancel()
	for _, in := range slices.Backward(begun) {
		if in.was && !in.known {
			k.o.Session.Forget(in.token)
		}
		active := k.o.Session.Active()
		i := slices.IndexFunc(active, func(a session.Activation) bool { return a.Token == in.token })
		if !in.was && i >= 0 && k.o.Session.Deactivate(ctx, in.token) == nil {
			k.left(ctx, active[i])
		}
	}
}

// offer renders a skill that a prompt called for, and activates it, both within activationTimeout.
func (k *Kit) offer(ctx context.Context, e skill.Entry) (disclose.Text, entered, error) {
	ctx, cancel := timed(ctx)
	defer cancel()
	text, in, err := k.offered(ctx, e)
	if err != nil {
		err = cause(ctx, err)
	}
	return text, in, err
}

func (k *Kit) offered(ctx context.Context, e skill.Entry) (disclose.Text, entered, error) {
	if e.Server() != "" { // its triggers are no reason to put the text of a stranger before a model
		return note(e, fits), entered{}, nil
	}
	s, err := e.Load(ctx)
	if err != nil {
		return disclose.Text{}, entered{}, err
	}
	defer s.Close()
	if k.forks(s) {
		return note(e, fits), entered{}, nil
	}
	args := ""
	if now, active := k.o.Session.Lookup(s.Canonical()); active {
		args = now.Args
	}
	in, err := k.enter(ctx, s, entry{args: args})
	switch {
	case err != nil:
		return disclose.Text{}, in, err
	case in.known:
		return note(e, "[The skill '%s' is active: the instructions that you were given hold.]"), in, nil
	}
	more := k.brings(ctx, s) + k.limits()
	in.text.Body, in.text.Tokens = in.text.Body+more, in.text.Tokens+disclose.Tokens(more)
	return in.text, in, nil
}

// fits is the note about a skill that is not activated by its triggers.
const fits = "[The skill '%s' fits: call the tool skill with it.]"

func note(e skill.Entry, format string) disclose.Text {
	body := fmt.Sprintf(format, e.Canonical())
	tokens := disclose.Tokens(body)
	return disclose.Text{Body: body, Tokens: tokens, Skills: []disclose.Cost{{Name: e.Name(), Tokens: tokens}}}
}
