package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
)

// dependencies are what scripts need that need the same.
type dependencies struct {
	Scripts    []string `json:"scripts"`
	Declared   string   `json:"declared,omitempty"`
	Packages   []string `json:"packages"`
	Undeclared []string `json:"undeclared,omitempty"` // modules that they import without any declaration
	Error      string   `json:"error,omitempty"`
}

// dependenciesOf returns what the scripts of a skill need.
func dependenciesOf(s *skill.Skill, rule *survey.Options, with []string) []dependencies {
	out := []dependencies{}
	scripts, _ := script.List(s, rule)
	for _, d := range script.DependenciesOf(s, scripts, with) {
		one := dependencies{Declared: d.Declared, Packages: append([]string{}, d.Packages...), Undeclared: d.Undeclared}
		for _, sc := range d.Scripts {
			one.Scripts = append(one.Scripts, sc.Name)
		}
		if d.Err != nil {
			one.Error = d.Err.Error()
		}
		out = append(out, one)
	}
	return out
}

// with returns the packages that the user added to the skill.
func (d *details) with() []string {
	if d.Grants == nil || d.Grants.Lapsed {
		return nil
	}
	return d.Grants.With
}

// packagesText says what declares packages, and what is imported without a declaration.
func packagesText(d *details) string {
	var parts, undeclared []string
	for _, one := range d.Dependencies {
		switch {
		case one.Error != "":
			parts = append(parts, one.Error)
		case len(one.Packages) > 0:
			parts = append(parts, fmt.Sprintf("%s (from %s)", some(one.Packages, mostShown), one.Declared))
		}
		undeclared = append(undeclared, one.Undeclared...)
	}
	if len(undeclared) > 0 {
		slices.Sort(undeclared)
		undeclared = slices.Compact(undeclared)
		parts = append(parts, fmt.Sprintf("imports %s without a declaration: %s", app.ImportsText(undeclared), app.WithCure(d.Canonical, undeclared...)))
	}
	return strings.Join(parts, "; ")
}
