package skilltool

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// runs reports whether a tool runs something on this machine, by the name with which its calls are checked.
func (k *Kit) runs(name string) bool {
	if slices.Contains([]string{"bash", "script_run", "script_help", "toolset_list", "toolset_call"}, name) {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	_, own := k.refs[name]
	return own
}

// served returns an error for a call that runs something while a skill of a server is active whose content nobody approved. It asks for
// the approval first. The error is a *tool.Denial.
func (k *Kit) served(ctx context.Context, name string) error {
	for _, a := range k.o.Session.Active() {
		if a.Server == "" || !k.runs(name) {
			continue
		}
		if err := k.approved(ctx, &a); err != nil {
			text := fmt.Sprintf("Skill '%s' of the MCP server %s is not approved: nothing is run while it is active. Leave it first, or go on without.", a.Name, a.Server)
			if more := k.advice(a.Name)(err); more != "" {
				text += " " + more
			}
			return &tool.Denial{Result: tool.CauseUntrusted.Failure(text)}
		}
	}
	if k.outer != nil {
		return k.outer.served(ctx, name)
	}
	return nil
}

// approved returns an error unless the content with which a skill became active is approved, and asks for that.
func (k *Kit) approved(ctx context.Context, a *session.Activation) error {
	e, err := k.o.Catalog().Lookup(a.Name)
	if err != nil {
		return err
	}
	s, err := e.Load(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := k.held(ctx, s); err != nil {
		return err
	}
	t, err := s.Trust(ctx)
	if err != nil || t.Runs() {
		return err
	}
	if k.o.Policy.Approve != nil {
		if yes, err := k.ask(ctx, s); err != nil || yes {
			return err
		}
	}
	return refusal(s, t, nil)
}

// changedError says that a skill of a server is not the one that became active.
type changedError struct{ name, server string }

func (e *changedError) Error() string {
	return fmt.Sprintf("Skill '%s' has changed on the MCP server %s since it became active. Activate it again to go on with it as it is now.", e.name, e.server)
}

// held returns a *changedError for a skill of a server that is active with another content: until it is activated again, nothing but what
// it had then is used.
func (k *Kit) held(ctx context.Context, s *skill.Skill) error {
	now, active := k.o.Session.Lookup(s.Canonical())
	if s.Entry().Server() == "" || !active || now.Digest == "" {
		return nil
	}
	if digest, err := s.Digest(ctx); err != nil || digest != now.Digest {
		return &changedError{s.Name(), s.Entry().Server()}
	}
	return nil
}
