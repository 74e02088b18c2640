package skilltool

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/hook"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// entered is a skill that enter made active.
type entered struct {
	token session.Token
	was   bool          // it was active before
	known bool          // the model has its text already: nothing was changed
	text  disclose.Text // for the model; zero if known
}

// status is the status of the tool skill's result.
func (e *entered) status() string {
	if e.was {
		return "already_active"
	}
	return "activated"
}

// entry says how a skill is entered.
type entry struct {
	args   string
	strict bool // a skill that is active is refused
	told   bool // the model gets the skill's text from the caller
}

// enter makes a skill active. It is the only way by which one becomes active, but for session.Session.Restore: for the tool skill, for a
// user who called for the skill, for a prompt that did, and in a sub-agent. The caller has found and opened the skill, which is where it is decided
// whether the model or the user may have it. The steps of enter, in this order:
//
//  1. It is looked up. If it is active and the model has this text of it, that is all. If the session would refuse it, because the
//     stack is full or because it is active and strict is set, it fails here: no hook runs for an activation that cannot be.
//  2. Its content is checked: what was installed, or approved since.
//  3. Its text is made, unless the model is told by the caller.
//  4. Its own hooks for it (pre) are asked, unless it is active. They can refuse.
//  5. It is put on the session's stack, or renewed there, which reports it to the tracer. This fails only if another call has
//     filled the stack since step 1, or ctx is done.
//  6. Its hooks that want to know (SessionStart) are told. They can only add to the text.
//
// The first failure ends it, and leaves the session as it was and the tracer without an event. After step 5 nothing fails: a
// skill on the stack is one whose text the caller has. A caller whose model reads the text at once then has the skill's toolsets
// started, see brings; those of a sub-agent start with More.
func (k *Kit) enter(ctx context.Context, s *skill.Skill, how entry) (entered, error) {
	now, active := k.o.Session.Lookup(s.Canonical())
	if active && !how.strict && unchanged(ctx, s, how.args, now) {
		return entered{token: now.Token, was: true, known: true}, nil
	}
	if !active || how.strict {
		if err := k.o.Session.Admits(s.Canonical()); err != nil {
			return entered{}, err
		}
	}
	text, err := k.instructions(ctx, s, how)
	if err != nil {
		return entered{}, err
	}
	if !active {
		if err := k.askPre(ctx, s); err != nil {
			return entered{}, err
		}
	}
	token, err := k.o.Session.Activate(ctx, s, how.args)
	if errors.Is(err, session.ErrActive) && !how.strict {
		return entered{token: token, was: true, text: text}, k.o.Session.Renew(ctx, token, s, how.args)
	}
	if err != nil {
		return entered{}, err
	}
	if now, active := k.o.Session.Lookup(s.Canonical()); active {
		if more := hook.Said(k.runHooks(ctx, &now, ofSkill(hook.SessionStart))); more != "" {
			more = "\n\nIts hook says: " + more
			text.Body, text.Tokens = text.Body+more, text.Tokens+disclose.Tokens(more)
		}
	}
	return entered{token: token, text: text}, nil
}

// askPre asks the hooks of a skill whether it may become active. The error is a *tool.Denial.
func (k *Kit) askPre(ctx context.Context, s *skill.Skill) error {
	if !s.Heeded(ctx) {
		return nil
	}
	coming := &session.Activation{Name: s.Canonical(), Hooks: s.Manifest().Hooks}
	if a, denied := veto(k.runHooks(ctx, coming, ofSkill(hook.Pre))); denied {
		return deniedByHook(fmt.Sprintf("Skill '%s' is not activated: its hook refused%s", s.Name(), because(a.Reason)))
	}
	return nil
}

// unchanged reports whether the model already has the text that an activation of s with args would return.
func unchanged(ctx context.Context, s *skill.Skill, args string, now session.Activation) bool {
	digest, err := s.Digest(ctx)
	return err == nil && digest == now.Digest && args == now.Args
}

// instructions checks the content of s and renders what a model gets for an activation: nothing if the caller tells it.
func (k *Kit) instructions(ctx context.Context, s *skill.Skill, how entry) (disclose.Text, error) {
	if err := s.Replaced(ctx); err != nil || how.told {
		return disclose.Text{}, err
	}
	o := k.o.Show.Instructions
	o.Args, o.Wrap, o.Scripts = how.args, true, k.keptFiles(s)
	return disclose.Instructions(ctx, s, &o)
}
