package session

import "slices"

// Hold keeps the restriction of an activation in force until Release or End, even if the skill is deactivated before, or renewed
// with other rules. What is said of its hooks is in Held. Hold does nothing if the activation has ended.
func (s *Session) Hold(token Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.stack, func(a Activation) bool { return a.Token == token }); i >= 0 {
		s.stack[i].held = true
	}
}

// Release ends every Hold. Skills that are active restrict as before.
func (s *Session) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits, s.ended = nil, nil
	for i := range s.stack {
		s.stack[i].held = false
	}
}

// Held returns the activations that ended while they were held: their hooks before calls (PreToolUse) are asked until Release or
// End. A skill that is active again is left out, since its new activation has them.
func (s *Session) Held() []Activation {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Activation
	for _, a := range s.ended {
		again := func(b Activation) bool { return b.Name == a.Name }
		if s.index(a.Name) < 0 && !slices.ContainsFunc(out, again) {
			out = append(out, a)
		}
	}
	return out
}

// Forget records that the model never got the text of an activation or a renewal, because its turn was broken off. It clears the
// activation's Digest, so a later call of the skill gives the whole text again. It does nothing if the activation has ended.
func (s *Session) Forget(token Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.stack, func(a Activation) bool { return a.Token == token }); i >= 0 {
		s.stack[i].Digest = ""
	}
}

func (s *Session) holds(a *Activation) bool { return a.held || s.o.HoldAll }

// keep keeps the restriction of a held activation that ends or changes.
func (s *Session) keep(a *Activation) {
	if a.limit != nil && s.holds(a) {
		s.limits = append(s.limits, *a.limit)
	}
}

// Sub returns the session of a sub-agent, without active skills. It is restricted by what s allows now for as long as it
// exists, so a sub-agent may never do more than the conversation that started it.
func (s *Session) Sub() *Session {
	o := s.o
	o.Within = s.Restriction()
	sub := New(&o)
	s.mu.Lock()
	sub.rules = s.rules
	s.mu.Unlock()
	return sub
}

// TopOnly reports whether only the skill on top of the stack restricts: activating another one may then allow more.
func (s *Session) TopOnly() bool { return s.o.Policy == PolicyTop }
