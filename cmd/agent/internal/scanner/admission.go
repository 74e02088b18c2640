package scanner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/scan"
)

// Admission says which skills are used here, as the organisation decides.
type Admission struct {
	sys       *setup.System
	policy    *policy.Policy
	installed *registry.Store
	verdicts  *Verdicts
}

// NewAdmission returns nil if the organisation says nothing about skills.
func NewAdmission(sys *setup.System, s *setup.Settings, v *Verdicts) *Admission {
	if !s.Policy().AsksAboutSkills() {
		return nil
	}
	return &Admission{sys: sys, policy: s.Policy(), installed: s.Registry(), verdicts: v}
}

// OfCatalog decides about a skill of this machine or of a server. It is for skill.Options.Admit.
func (a *Admission) OfCatalog(ctx context.Context, s skill.Subject) error {
	from, err := a.source(ctx, &s)
	if err != nil {
		return err
	}
	return a.decide(ctx, from, &s)
}

// OfPlace decides about a place and the skills in it, before they are installed. It is for install.Options.Admit.
func (a *Admission) OfPlace(ctx context.Context, from source.Ref, s *skill.Subject) error {
	if s == nil {
		return a.policy.Source(from.String()).Refuse("nothing is fetched from %s", from)
	}
	return a.decide(ctx, from.String(), s)
}

func (a *Admission) decide(ctx context.Context, from string, s *skill.Subject) error {
	d := a.policy.Skill(&policy.Skill{
		Name: s.Name, Source: from,
		Digest:  func() (string, error) { return s.Digest(ctx) },
		Signed:  func(certificates []byte) (bool, error) { return a.signed(ctx, s.Dir, certificates) },
		Scanned: func(level string) (string, error) { return a.verdicts.refuses(ctx, s, scan.Severity(level)) },
	})
	if d.Level == policy.Never {
		return &policy.Refusal{Decision: d}
	}
	return nil
}

// source returns where a skill comes from, "" for one that comes with the program. What was changed after it was installed comes from its
// folder.
func (a *Admission) source(ctx context.Context, s *skill.Subject) (string, error) {
	if s.Server != "" {
		return source.Of(source.Server, s.Server+"/"+strings.TrimPrefix(s.Name, s.Server+":")).String(), nil
	}
	if s.Dir == "" {
		if s.Bundled {
			return "", nil
		}
		return paths.Real(s.File), nil // a single file, such as a command of a project
	}
	folder := paths.Real(s.Dir)
	set, err := a.installed.Load(ctx)
	if err != nil {
		return "", fmt.Errorf("where it comes from cannot be read: %w", err)
	}
	e, ok := set.Get(s.Name)
	if !ok || e.Linked || paths.Real(e.InstalledPath) != folder {
		return folder, nil
	}
	digest, err := s.Digest(ctx)
	if err != nil || digest != e.Digest {
		return folder, err
	}
	return e.Source, nil
}

// signed reports whether one of the certificates of a PEM file vouches for the signature of a skill.
func (a *Admission) signed(ctx context.Context, dir string, certificates []byte) (bool, error) {
	if dir == "" {
		return false, errors.New("it has no folder that a signature could be in")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	return setup.SignedBy(ctx, root.FS(), certificates, a.sys.Now())
}
