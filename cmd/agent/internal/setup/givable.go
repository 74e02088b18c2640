package setup

import (
	"errors"
	"fmt"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Cures says what helps after a failure here.
func (s *Settings) Cures() *cure.Cures {
	return &cure.Cures{Policy: s.Policy(), Set: func(name string) bool { _, set := s.Variable(name); return set }, Denied: func(host string) string {
		rules, _ := s.Permissions()
		if d := rules.Host(host); d.Verdict == permit.Denied {
			return d.Reason
		}
		return ""
	}}
}

// Usual returns wants that a person named in their usual form: folders are absolute, but for want.Here, and "all" is every host.
func (s *Settings) Usual(given want.Set) (want.Set, error) {
	var out want.Set
	for _, w := range given {
		switch {
		case w.Kind.Files():
			if w.Name != want.Here {
				w.Name = s.sys.Abs(w.Name)
			}
		case w.Kind == want.Host:
			if w.Name == cure.AllHosts {
				w.Name = want.Any
			}
			if w.Name == want.Any {
				break
			}
			h, err := hostname.Parse(w.Name)
			if err != nil {
				return nil, failure.Usage(fmt.Errorf("%q is not the name of a host: %w", w.Name, err), "such as --net api.example.com, or --net all for every host")
			}
			w.Name = h.String()
		case w.Kind == want.Socket:
			if err := w.Check(); err != nil {
				return nil, failure.Usage(err, "such as --socket "+w.Kind.Sample())
			}
		}
		w.From = want.User
		out = out.Add(w)
	}
	return out, nil
}

// Grantable is Usual for what is to be given to a skill. It returns an error for what nobody gives.
func (s *Settings) Grantable(given want.Set, m *manifest.Manifest) (want.Set, error) {
	given, err := s.Usual(given)
	if err != nil {
		return nil, err
	}
	for _, w := range given {
		if w.Kind == want.Variable && script.Declared(m).Has(w) {
			continue
		}
		if d := s.Policy().Decide(w); d.Level == policy.Never {
			return nil, Never(w, d)
		}
	}
	return given, nil
}

// Openable returns what the program of a server of tools may be given, in the form that Usual has. It returns an error for what is never given.
func (s *Settings) Openable(given want.Set) (want.Set, error) {
	given, err := s.Usual(given)
	if err != nil {
		return nil, err
	}
	for _, w := range given {
		if d := s.Policy().Decide(w); d.Level == policy.Never {
			return nil, Never(w, d)
		}
		if w.Name == want.Here {
			return nil, failure.Usage(errors.New("a server of tools is not started for a folder"), "name the folder by its path")
		}
	}
	return given, nil
}

// Never returns the error for something that nobody gives.
func Never(w want.Want, d policy.Decision) error {
	switch w.Kind {
	case want.Variable:
		err := script.CheckGrant(w.Name)
		if errors.Is(err, script.ErrNeverPasses) {
			return failure.Denied(err, "")
		}
		return failure.Usage(err, "such as --env GITHUB_TOKEN; several with commas")
	case want.Write:
		return failure.Denied(fmt.Errorf("%q cannot be granted to write: %s", w.Name, d.Why), "name the folders that the skill needs, such as --write ~/notes")
	}
	return failure.Denied(fmt.Errorf("%q cannot be granted: %s", w.Name, d.Why), "")
}
