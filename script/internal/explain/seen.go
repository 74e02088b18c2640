package explain

import "github.com/agent-base/agent-base/want"

// Seen is what the texts of a skill's scripts show of what they want. The application finds it out, as package skill/scan does.
type Seen struct {
	// Files has the variables that each script reads and the hosts that it contacts, by its slash path below the skill.
	Files   map[string]want.Set
	Network bool // one uses the network, also without a host that its text names
}

// Wants returns what any of the scripts wants.
func (s *Seen) Wants() want.Set {
	var all want.Set
	for _, wants := range s.Files {
		all = append(all, wants...)
	}
	return want.New(all...)
}

// Readers returns how many scripts want something.
func (s *Seen) Readers(w want.Want) (n int) {
	for _, wants := range s.Files {
		if wants.Has(w) {
			n++
		}
	}
	return n
}
