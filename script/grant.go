package script

import (
	"context"

	"github.com/agent-base/agent-base/skill"
)

// Grant is what the user gave the scripts of a skill. The zero value gives nothing.
type Grant struct {
	Declared bool     // the variables that the manifest's permissions.env names pass
	Env      []string // names of further variables that pass; a name that never passes is ignored
	Home     bool     // HOME is the user's own folder
	With     []string // packages that Python scripts need in addition to those that the skill declares, as requirements
}

// granted returns what the user gave a skill.
func (h *Host) granted(ctx context.Context, s *skill.Skill) (Grant, error) {
	if h.o.Granted == nil {
		return Grant{Declared: true}, nil
	}
	return h.o.Granted(ctx, s)
}

// variables returns the names and patterns of the variables that pass to a skill's scripts.
func (g *Grant) variables(s *skill.Skill) []string {
	var out []string
	if g.Declared {
		out = append(out, s.Manifest().Permissions.Env...)
	}
	return append(out, g.Env...)
}
