package setup

import (
	"context"
	"net/http"

	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
)

// Policy says what is allowed here: what may be given to a skill at all, and what the organisation decides.
func (s *Settings) Policy() *policy.Policy {
	s.governing.Do(func() {
		s.policy = &policy.Policy{Home: s.sys.Home, Own: s.Home(), Variable: script.CheckGrant}
		if s.sys.Policy == nil {
			return
		}
		d := s.sys.Policy()
		if d != nil {
			s.policy.Organisation, s.policy.Account = s.documents(d), s.sys.Account()
		}
		s.policy.Changed = policy.Watch(d, s.sys.Policy, s.sys.Now)
	})
	return s.policy
}

// Limit returns what may be reached of a network as the organisation says. Where all of it might be reached, only the hosts that the
// policy names are, through the proxy.
func (s *Settings) Limit(n *runner.Network) *runner.Network {
	p := s.Policy()
	hosts, limited := p.Network()
	if !limited {
		return n
	}
	out, denied := *n, n.Denied
	switch {
	case n.All && len(hosts) > 0:
		out.Hosts, out.Private = append(hosts, n.Hosts...), append(hosts, n.Private...)
	case n.All:
		out.Ask = func(context.Context, string) runner.Verdict { return runner.Yes }
	}
	out.All, out.OrAll = false, false
	out.Denied = func(host string) bool { return p.Host(host).Level == policy.Never || denied != nil && denied(host) }
	return &out
}

// Within returns a transport whose requests reach only hosts that the organisation allows.
func (s *Settings) Within(next http.RoundTripper) http.RoundTripper {
	p := s.Policy()
	if _, limited := p.Network(); !limited {
		return next
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if err := p.Host(r.URL.Host).Refuse("%s is not reached", r.URL.Host); err != nil {
			return nil, err
		}
		return next.RoundTrip(r)
	})
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
