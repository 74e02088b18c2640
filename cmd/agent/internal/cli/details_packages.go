package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/packages"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// dependencies are what scripts need that need the same, or what toolsets need that share a process.
type dependencies struct {
	Scripts    []string `json:"scripts"`
	Toolset    string   `json:"toolset,omitempty"` // the toolsets as they are declared
	Declared   string   `json:"declared,omitempty"`
	Packages   []string `json:"packages"`
	Undeclared []string `json:"undeclared,omitempty"` // modules that they import without any declaration
	Error      string   `json:"error,omitempty"`
}

// dependenciesOf returns what the scripts and the toolsets of a skill need.
func dependenciesOf(s *skill.Skill, rule *survey.Options, with []string) []dependencies {
	out := []dependencies{}
	scripts, _ := script.List(s, rule)
	for _, d := range script.DependenciesOf(s, scripts, with) {
		one := newDependencies(&d)
		for _, sc := range d.Scripts {
			one.Scripts = append(one.Scripts, sc.Name)
		}
		out = append(out, one)
	}
	for _, p := range toolset.Programs(s) {
		if d, any := p.Dependencies(s, with); any {
			one := newDependencies(&d)
			one.Toolset = toolsetOf(&p)
			out = append(out, one)
		}
	}
	return out
}

func newDependencies(d *script.Dependencies) dependencies {
	one := dependencies{Scripts: []string{}, Declared: d.Declared, Packages: append([]string{}, d.Packages...), Undeclared: d.Undeclared}
	if d.Err != nil {
		one.Error = d.Err.Error()
	}
	return one
}

// toolsetOf returns the toolsets of a program as they are declared.
func toolsetOf(p *script.Program) string { return strings.TrimPrefix(p.Name, "toolset ") }

// with returns the packages that the user added to the skill.
func (d *details) with() []string {
	if d.Grants == nil || d.Grants.Lapsed {
		return nil
	}
	return d.Grants.Given.Named(want.Package)
}

// packagesText says what declares packages, and what is imported without a declaration.
func packagesText(d *details) string {
	var parts, undeclared []string
	for _, one := range d.Dependencies {
		text := one.Error
		if text == "" && len(one.Packages) > 0 {
			text = fmt.Sprintf("%s (from %s)", some(one.Packages, mostShown), one.Declared)
		}
		if text != "" && !slices.Contains(parts, text) { // scripts and toolsets may need the same
			parts = append(parts, text)
		}
		undeclared = append(undeclared, one.Undeclared...)
	}
	if len(undeclared) > 0 {
		slices.Sort(undeclared)
		undeclared = slices.Compact(undeclared)
		parts = append(parts, fmt.Sprintf("imports %s without a declaration: %s", packages.ImportsText(undeclared), cure.Prepare(d.Canonical, script.Packages(undeclared...))))
	}
	return strings.Join(parts, "; ")
}
