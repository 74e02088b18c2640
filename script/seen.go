package script

import (
	"context"
	"sync"

	"github.com/agent-base/agent-base/want"
)

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

// Shown reports whether a question shows a variable that a script reads: not one that every script has, or that can never pass.
func Shown(variable string) bool { return !AlwaysPasses(variable) && CheckGrant(variable) == nil }

// looked makes c.look return what is seen of the skill. It is looked at once, and only for a run that lacked something.
func (h *Host) looked(ctx context.Context, c *call) {
	c.look = sync.OnceValue(func() Seen {
		if h.o.Seen == nil {
			return Seen{}
		}
		return h.o.Seen(ctx, c.s)
	})
}
