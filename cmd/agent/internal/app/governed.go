package app

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
)

// Policy says what is allowed here: what may be given to a skill at all, and what the organisation decides.
func (s *Settings) Policy() *policy.Policy {
	s.governing.Do(func() {
		s.policy = &policy.Policy{Home: s.sys.Home, Own: s.Home(), Variable: script.CheckGrant}
		if s.sys.Policy == nil {
			return
		}
		if d := s.sys.Policy(); d != nil {
			s.policy.Organisation, s.policy.Account = []*policy.Document{d}, s.sys.Account()
		}
	})
	return s.policy
}

// Governed returns an error if the policy of the organisation cannot be used, so that nothing is done, or does not allow what a flag asks for.
func (s *Services) Governed() error {
	p, g := s.Settings.Policy(), s.Flags
	if err := p.Err(); err != nil {
		return err
	}
	if g.Mode != "" {
		if err := p.Mode(permit.Mode(g.Mode)).Refuse("--mode %s is refused", g.Mode); err != nil {
			return err
		}
	}
	if g.Sandbox != "" {
		return p.Sandbox(g.Sandbox).Refuse("--sandbox %s is refused", g.Sandbox)
	}
	return nil
}

// explainPolicy explains what the organisation's policy refuses; nil for another error.
func explainPolicy(err error) *Failure {
	if refused, ok := errors.AsType[*policy.Refusal](err); ok {
		f := &Failure{Exit: ExitDenied, Code: "policy", Err: err, Hint: "agent policy show has all of it"}
		if refused.Contact != "" {
			f.Hint = fmt.Sprintf("ask %s; %s", refused.Contact, f.Hint)
		}
		return f
	}
	if closed, ok := errors.AsType[*policy.ClosedError](err); ok {
		return &Failure{Exit: ExitDenied, Code: "policy", Err: err, Hint: "whoever looks after this machine can mend it: agent policy check " + closed.File}
	}
	return nil
}
