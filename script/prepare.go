package script

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/skill"
)

// PrepareOptions says how dependencies are prepared.
type PrepareOptions struct {
	Upgrade bool      // choose versions again; otherwise the chosen versions stay
	Since   time.Time // with Upgrade: versions that were chosen then or later stay; zero means that none do
	Build   []string  // packages that may be built from their source, which runs their code
	With    []string  // packages in addition to those that the skill declares and Options.Granted returns

	// Large decides whether more than 200 MB are downloaded; nil means that it is not.
	Large func(context.Context, Download) (bool, error)
}

// Download is what preparing dependencies would download.
type Download = pyenv.Download

// Prepared is what was found or made for scripts that need the same.
type Prepared struct {
	Scripts    []Script
	Needed     bool     // they have dependencies
	Made       bool     // the environment was made by this call; false: it was there
	Packages   []string // those of the environment, as "name==version" or "name@version", sorted
	Unbuilt    []string // npm packages with install scripts, which never run, as "name@version"
	Declared   string   // what declares them, such as "requirements.txt"; "" if nothing does
	Undeclared []string // modules that they import, that are neither part of Python nor files of the skill, and that the environment lacks
	Duration   time.Duration
	Err        error // why they cannot run

	folder string // of npm packages
}

// Prepare makes the environment that the dependencies of a Python, JavaScript or TypeScript script need. After that the
// script runs without uv, without npm and without a network. Prepare runs nothing of the skill, and of the
// packages only the builds that PrepareOptions.Build allows. For a Python script without dependencies it only finds the Python that the script requires. The error is that of ctx, or
// an *Error with the reason ReasonDependencies, ReasonMetadata, ReasonPython or ReasonInterpreter. The result is never nil;
// with an error only Needed and Declared may be set.
func (h *Host) Prepare(ctx context.Context, s *skill.Skill, sc Script, o *PrepareOptions) (*Prepared, error) {
	all, err := h.PrepareAll(ctx, s, []Script{sc}, o)
	if err != nil {
		return &Prepared{}, err
	}
	return &all[0], all[0].Err
}

// PrepareAll is Prepare for several scripts. It returns one result for all that need the same, in the order of the scripts.
// The error is that of ctx, or of what holds for the whole skill; that of a script is in its result.
func (h *Host) PrepareAll(ctx context.Context, s *skill.Skill, scripts []Script, o *PrepareOptions) ([]Prepared, error) {
	if o == nil {
		o = &PrepareOptions{}
	}
	done, err := h.use(ctx, h.o.Timeout)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := checkOpen(s); err != nil {
		return nil, err
	}
	grant, err := h.granted(ctx, s)
	if err != nil {
		return nil, err
	}
	out := []Prepared{}
	with := slices.Concat(grant.packages(), o.With)
	for _, g := range groups(s, scripts, with) {
		p := h.prepareGroup(ctx, s, g, with, o)
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

func (h *Host) prepareGroup(ctx context.Context, s *skill.Skill, g *alike, with []string, o *PrepareOptions) *Prepared {
	start := time.Now()
	out := &Prepared{Scripts: g.scripts, Err: g.err}
	switch {
	case g.node:
		return h.prepareNode(ctx, s, g.scripts[0], with, g.serve, o)
	case g.needs == nil:
		return out
	}
	out.Declared = g.needs.From
	src := &source{host: h, s: s, sc: g.scripts[0]}
	p, err := h.pythons.Prepare(ctx, h.prepared(ctx, src, g.needs), &pyenv.PrepareOptions{Upgrade: o.Upgrade, Since: o.Since, Build: o.Build, Large: o.Large})
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
		if strings.HasPrefix(p, NPM) {
			check = nodeenv.CheckPackage
		}
		if err := check(strings.TrimPrefix(p, NPM)); err != nil {
			return err
		}
	}
	return nil
}

// SamePackage reports whether two requirements name the same package: "PyYAML" and "pyyaml>=6", "npm:a" and "npm:a@2".
func SamePackage(a, b string) bool {
	first, npm := strings.CutPrefix(a, NPM)
	second, other := strings.CutPrefix(b, NPM)
	if npm || other {
		return npm && other && nodeenv.SamePackage(first, second)
	}
	return pyenv.SamePackage(a, b)
}
