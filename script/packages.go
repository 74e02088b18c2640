package script

import (
	"context"
	"slices"

	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// NPM begins the name of an npm package among packages that a user added: npm:marked. Others are of Python.
const NPM = want.NPM

// PrepareOptions says how dependencies are prepared: whether versions are chosen again (Upgrade, Since), which packages may be built from
// their source (Build) or are there in addition (With), and who decides about a large download (Large).
type PrepareOptions = envs.PrepareOptions

// Download is what preparing dependencies would download: Packages of a Script, and their Bytes.
type Download = envs.Download

// Prepared is what was found or made for scripts that need the same: whether they need anything, the packages of their environment, what
// declares them, the modules that they import and that it lacks (Undeclared), and why they cannot run (Err).
type Prepared = envs.Prepared

// Dependencies is what some scripts of a skill need, all of them the same: the packages, what declares them, and the modules that they
// import without any declaration (Undeclared).
type Dependencies = envs.Dependencies

// Program is what Serve runs, as far as it decides which packages are prepared: Name, Files and Else of its ServeOptions, and the modules
// that it brings itself (Own). Its method Dependencies returns what it needs.
type Program = envs.Program

// DependenciesOf returns what the scripts of a skill need, with packages that the user added: those of Python, and of npm
// with the prefix NPM. It reads files only. Scripts that need nothing are left out.
func DependenciesOf(s *skill.Skill, scripts []Script, with []string) []Dependencies {
	return envs.DependenciesOf(s, scripts, with)
}

// CheckPackages returns an error for a name of a package that cannot be used, such as an address.
func CheckPackages(packages []string) error { return envs.CheckPackages(packages) }

// SamePackage reports whether two requirements name the same package: "PyYAML" and "pyyaml>=6", "npm:a" and "npm:a@2".
func SamePackage(a, b string) bool { return envs.SamePackage(a, b) }

// Chosen returns the versions of packages that this Host has chosen, for a key that another Host has asked its Options.Chosen for. It returns
// nil if it has chosen none: Prepare does.
func (h *Host) Chosen(key string) []byte { return h.envs.Chosen(key) }

// Prepare makes the environment that the dependencies of a Python, JavaScript or TypeScript script need. After that the
// script runs without uv, without npm and without a network. Prepare runs nothing of the skill, and of the
// packages only the builds that PrepareOptions.Build allows. For a Python script without dependencies it only finds the Python that the
// script requires. The error is that of ctx, or an *Error with the reason ReasonDependencies, ReasonPython, ReasonInterpreter, or
// "metadata_invalid" for what declares the dependencies. The result is never nil; with an error only Needed and Declared may be set.
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
	with, done, err := h.added(ctx, s, o)
	if err != nil {
		return nil, err
	}
	defer done()
	return h.envs.PrepareAll(ctx, s, scripts, with, o)
}

// PrepareProgram is Prepare for what Serve runs: it makes the environment that Serve uses. Like that of Prepare, the result is never
// nil.
func (h *Host) PrepareProgram(ctx context.Context, s *skill.Skill, p *Program, o *PrepareOptions) (*Prepared, error) {
	if o == nil {
		o = &PrepareOptions{}
	}
	with, done, err := h.added(ctx, s, o)
	if err != nil {
		return &Prepared{}, err
	}
	defer done()
	out := h.envs.PrepareProgram(ctx, s, p, with, o)
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, out.Err
}

// added returns the packages that are prepared in addition to those that a skill declares. Sweep removes nothing until done is called.
func (h *Host) added(ctx context.Context, s *skill.Skill, o *PrepareOptions) (with []string, done func(), err error) {
	if done, err = h.places.Use(ctx, h.o.Timeout); err != nil {
		return nil, nil, err
	}
	var grant Grant
	if err = run.CheckOpen(s); err == nil {
		grant, err = h.engine.Granted(ctx, s)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return slices.Concat(plan.Packages(&grant), o.With), done, nil
}
