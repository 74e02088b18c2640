package skilltool

import (
	"context"
	"fmt"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// Turn returns what stands next to a user's prompt (see disclose.Plan). With the mode triggers the skills that the prompt
// calls for are activated, as if the model had called the tool skill for each: they are on the session's stack, what
// was told before is not told again, and a skill with context: fork is only named. In every other mode nothing is
// activated. The error is ctx's.
func (k *Kit) Turn(ctx context.Context, p *disclose.Plan, prompt string) (disclose.Choice, error) {
	c := k.o.Catalog()
	return p.Turn(ctx, c, prompt, &disclose.TurnOptions{Recent: k.o.Session.Recent(), Index: func() *disclose.Index { return k.indexOf(c) }, Render: k.offer})
}

// offer renders a skill that a prompt called for, and activates it, both within ActivationTimeout.
func (k *Kit) offer(ctx context.Context, e skill.Entry) (disclose.Text, error) {
	ctx, cancel := timed(ctx)
	defer cancel()
	text, err := k.offered(ctx, e)
	if err != nil {
		err = cause(ctx, err)
	}
	return text, err
}

func (k *Kit) offered(ctx context.Context, e skill.Entry) (disclose.Text, error) {
	s, err := e.Load(ctx)
	if err != nil {
		return disclose.Text{}, err
	}
	defer s.Close()
	if k.o.Forks && s.Manifest().Context == "fork" {
		return note(s, "[The skill '%s' fits: call the tool skill with it.]"), nil
	}
	args := ""
	if now, active := k.o.Session.Lookup(s.Canonical()); active {
		if args = now.Args; unchanged(ctx, s, args, now) {
			return note(s, "[The skill '%s' is active: the instructions that you were given hold.]"), nil
		}
	}
	text, err := k.instructions(ctx, s, args)
	if err != nil {
		return disclose.Text{}, err
	}
	token, said, err := k.enter(ctx, s, args)
	text.Body += said
	if token != 0 && err != nil { // active, with another content
		err = k.o.Session.Renew(ctx, token, s, args)
	}
	if err == nil {
		limits := k.brings(ctx, s) + k.limits()
		text.Body, text.Tokens = text.Body+limits, text.Tokens+disclose.Tokens(limits)
	}
	return text, err
}

func note(s *skill.Skill, format string) disclose.Text {
	body := fmt.Sprintf(format, s.Canonical())
	tokens := disclose.Tokens(body)
	return disclose.Text{Body: body, Tokens: tokens, Skills: []disclose.Cost{{Name: s.Name(), Tokens: tokens}}}
}
