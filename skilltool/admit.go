package skilltool

import (
	"context"

	"github.com/agent-base/agent-base/skill"
)

// Admit decides whether the content of a skill may run, as RunScript does, and returns the skill to run: it is a script.Admit
// for callers that run something of a skill themselves. It asks Options.Approve about content that is not approved. The error
// is a *script.Error, which wraps an *UntrustedError.
func (k *Kit) Admit(ctx context.Context, s *skill.Skill) (*skill.Skill, error) {
	return k.admit(ctx, s)
}
