package script

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Grant is what the user gave the scripts of a skill. The zero value gives nothing.
type Grant struct {
	Declared bool     // the variables that the manifest's permissions.env names pass, except those of model providers
	Withheld []string // entries of permissions.env that do not count, as they are written there
	Env      []string // exact names of further variables that pass; a name that never passes is ignored
	Home     bool     // HOME is the user's own folder
	Note     string   // what the caller of a run should know, such as that a grant has lapsed: it is in the result's Warning
	With     []string // packages that scripts need in addition to those that the skill declares: requirements of Python, or npm:NAME
}

// granted returns what the user gave a skill.
func (h *Host) granted(ctx context.Context, s *skill.Skill) (Grant, error) {
	if h.o.Granted == nil {
		return Grant{Declared: true}, nil
	}
	return h.o.Granted(ctx, s)
}

// Passes reports whether a variable of the operator passes to the scripts of a skill with this manifest.
func (g *Grant) Passes(m *manifest.Manifest, name string) bool { return g.passing(m).allows(name) }

// passing returns which variables pass to the scripts of a skill.
func (g *Grant) passing(m *manifest.Manifest) *passing {
	p := &passing{granted: g.Env}
	if g.Declared {
		p.declared = slices.DeleteFunc(slices.Clone(m.Permissions.Env), func(entry string) bool { return slices.Contains(g.Withheld, entry) })
	}
	return p
}
