package envs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// PrepareAll makes the environments of some scripts. It returns one result for all that need the same, in the order of the scripts. The
// error is that of ctx; that of a script is in its result.
func (st *Store) PrepareAll(ctx context.Context, s *skill.Skill, scripts []survey.Script, with []string, o *PrepareOptions) ([]Prepared, error) {
	out := []Prepared{}
	for _, g := range groups(s, scripts, with) {
		p := st.prepareGroup(ctx, s, g, o)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		same := slices.IndexFunc(out, func(have Prepared) bool { return p.folder != "" && have.folder == p.folder })
		if same >= 0 {
			out[same].Scripts = append(out[same].Scripts, p.Scripts...)
			continue
		}
		out = append(out, *p)
	}
	return out, nil
}

func (st *Store) prepareGroup(ctx context.Context, s *skill.Skill, g *alike, o *PrepareOptions) *Prepared {
	start := time.Now()
	out := &Prepared{Scripts: g.scripts, Err: g.err}
	switch {
	case g.node != nil:
		return st.prepareNode(ctx, g.node, o)
	case g.needs == nil:
		return out
	}
	out.Declared = g.needs.From
	of := &Of{Skill: s, Script: g.scripts[0]}
	p, err := st.pythons.Prepare(ctx, st.prepared(ctx, of, g.needs), &pyenv.PrepareOptions{Upgrade: o.Upgrade, Since: o.Since, Build: o.Build, Large: o.Large})
	if out.Needed = p.Needed; err != nil {
		out.Err = ofPython(err)
		return out
	}
	out.Made, out.Packages, out.Undeclared = p.Made, p.Packages(), p.Lacks(g.undeclared(s))
	if p.Needed {
		out.Duration = time.Since(start)
	}
	return out
}

// CheckPackages returns an error for a name of a package that cannot be used, such as an address.
func CheckPackages(packages []string) error {
	for _, p := range packages {
		check := pyenv.CheckPackage
		if strings.HasPrefix(p, want.NPM) {
			check = nodeenv.CheckPackage
		}
		if err := check(strings.TrimPrefix(p, want.NPM)); err != nil {
			return err
		}
	}
	return nil
}

// SamePackage reports whether two requirements name the same package: "PyYAML" and "pyyaml>=6", "npm:a" and "npm:a@2".
func SamePackage(a, b string) bool {
	first, npm := strings.CutPrefix(a, want.NPM)
	second, other := strings.CutPrefix(b, want.NPM)
	if npm || other {
		return npm && other && nodeenv.SamePackage(first, second)
	}
	return pyenv.SamePackage(a, b)
}
