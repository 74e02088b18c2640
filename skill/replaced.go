package skill

import (
	"context"
	"fmt"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// ReplacedError says that the content of an installed skill is neither what was installed nor approved: nothing of it is used.
type ReplacedError struct {
	Name      string // of the skill
	Installed string // digest
	Now       string // digest
}

// Reason returns why the skill is not used, for a list of skills.
func (e *ReplacedError) Reason() string { return "changed since it was installed" }

// Error returns the text for a model.
func (e *ReplacedError) Error() string {
	return fmt.Sprintf("Skill '%s' has %s, so nothing of it is used.", e.Name, e.Reason())
}

// Replaced returns a *ReplacedError if the skill was installed and has another content now, which nobody approved. It reads all
// files of an installed skill, unless Digest has done so.
func (s *Skill) Replaced(ctx context.Context) error {
	installed := s.Entry().Installed()
	if installed == "" {
		return nil
	}
	now, err := s.Digest(ctx)
	if err != nil || now == installed {
		return err
	}
	// Its digest may be one of before, which covers what belongs to no skill: then nothing of that has changed, either.
	if same, _, err := dirhash.Is(ctx, s.tree, installed); err != nil || same {
		return err
	}
	if t, err := s.Trust(ctx); err != nil || t.Runs() {
		return err
	}
	return &ReplacedError{Name: s.Name(), Installed: installed, Now: now}
}
