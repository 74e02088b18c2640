package skill

import (
	"slices"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Audience is who asks for skills. The values are compared byte by byte with those of the scope of a skill: no pattern, no
// other case. The program that knows who asks sets them; they never come from a request. An empty value matches
// no list.
type Audience struct {
	Agent       string // kind of the agent
	Tenant      string // customer or organisation
	Environment string // such as production
}

// Admits reports whether a skill with that scope is available to a. A scope that is unclear admits nobody. A nil Audience is
// admitted everywhere.
func (a *Audience) Admits(s manifest.Scope) bool {
	if a == nil {
		return true
	}
	in := func(list []string, value string) bool {
		return len(list) == 0 || value != "" && slices.Contains(list, value)
	}
	return !s.Unclear && in(s.Agents, a.Agent) && in(s.Tenants, a.Tenant) && in(s.Environments, a.Environment)
}

// sees reports whether a record is in the catalogue for a. A broken one may have a scope that cannot be read, so it
// is not.
func (a *Audience) sees(r *record) bool {
	if a == nil {
		return true
	}
	if r.flags&isFatal != 0 || r.more != nil && len(r.more.problems) > 0 {
		return false
	}
	k := r.kept()
	return k == nil || a.Admits(k.scope)
}
