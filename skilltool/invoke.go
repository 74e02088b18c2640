package skilltool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// Invoke activates a skill that the user called for by name, and returns the result of the tool skill and the text
// that belongs into the turn, next to what the user typed. The text is "" after a failure, also when ctx is done.
// A skill with
// disable-model-invocation is activated in this way only, and as long as it is active a model may read its files and run
// its scripts. One with user-invocable: false is refused, as are those that are disabled, unavailable or broken.
//
// Where sub-agents are (Options.Forks), a skill with context: fork is not active afterwards: the text has the model call
// the tool skill for it.
func (k *Kit) Invoke(ctx context.Context, name, args string) (r tool.Result, turn string) {
	ctx, cancel := timed(ctx)
	defer cancel()
	e, err := k.o.Catalog().Lookup(name)
	if err != nil {
		return activationFailure(ctx, name, err), ""
	}
	if refused := refuseUser(e); refused != nil {
		return *refused, ""
	}
	s, err := e.Load(ctx)
	if err != nil {
		return activationFailure(ctx, name, err), ""
	}
	defer s.Close()
	if k.forks(s) {
		return k.invokeFork(s, args)
	}
	r = k.activateLoaded(ctx, s, args)
	if now, active := k.o.Session.Lookup(s.Canonical()); active && k.o.Hold {
		k.o.Session.Hold(now.Token)
	}
	if a, ok := r.Result.(Activation); ok && r.Success {
		turn = fmt.Sprintf("[The user called for the skill '%s': carry it out.]%s\n%s", s.Canonical(), k.limits(), a.Content)
	}
	return r, turn
}

// refuseUser says why a user cannot call for a skill; nil means they can.
func refuseUser(e skill.Entry) *tool.Result {
	var r tool.Result
	switch state := e.State(); {
	case state != skill.StateEnabled && state != skill.StateHidden:
		r = tool.CauseNotFound.Failure(fmt.Sprintf("Skill '%s' is %s: %s", e.Name(), state, e.Reason()))
	case !e.UserInvocable():
		r = tool.CauseSecurity.Failure(fmt.Sprintf("Skill '%s' is not for users to call: its manifest says user-invocable: false", e.Name()))
	default:
		return nil
	}
	return &r
}

// invokeFork has the model start the sub-agent: only the answer to a call can.
func (k *Kit) invokeFork(s *skill.Skill, args string) (tool.Result, string) {
	call, err := json.Marshal(struct {
		Skill string `json:"skill_name"`
		Args  string `json:"args,omitempty"`
	}{s.Canonical(), args})
	if err != nil {
		return tool.CauseActivation.Failure(err.Error()), ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.called == nil {
		k.called = map[string]bool{}
	}
	k.called[s.Canonical()] = true
	return tool.Success("", fmt.Sprintf("Skill '%s' is for a sub-agent", s.Name())),
		fmt.Sprintf("[The user called for the skill '%s': call the tool skill with %s.]", s.Canonical(), call)
}

// mayUse reports whether a model may use a skill: an enabled one, and one that is kept from models once a user called
// for it. A user may use both.
func (k *Kit) mayUse(e skill.Entry) bool {
	if e.State() != skill.StateHidden || k.o.ByUser {
		return e.State() == skill.StateEnabled || e.State() == skill.StateHidden
	}
	_, active := k.o.Session.Lookup(e.Canonical())
	return active || k.wasCalled(e.Canonical())
}

func (k *Kit) wasCalled(canonical string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.called[canonical]
}
